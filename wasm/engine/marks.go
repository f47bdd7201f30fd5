package engine

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// A mark is what is noted of a session outside of the store, so that a database that
// the browser has lost or deleted is noticed: an empty one looks like a first visit.
type mark struct {
	ID, Name          string
	Classes, Examples int
}

// markAfter is how long the first of many changes waits to be noted, with the others.
const markAfter = time.Second

// mark notes the open session in a moment.
func (e *Engine) mark() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hooks.Mark == nil || e.noting || e.gone != nil {
		return
	}
	note := func() {
		e.mu.Lock()
		e.noting = false
		m := mark{e.session.ID, e.session.Name, e.taught.Len(), e.taught.Count()}
		unmark := e.unmark
		if m.Classes > 0 {
			e.unmark = nil
		}
		e.mu.Unlock()
		if m.Classes == 0 {
			return
		}
		for _, id := range unmark { // what has vanished is said at every start until something is taught anew
			e.hooks.Mark(id, "")
		}
		b, _ := json.Marshal(m) // text and numbers
		e.hooks.Mark(m.ID, string(b))
	}
	e.noting = true
	e.hooks.Later(markAfter, note)
}

// vanishedSessions returns a sentence on the sessions that were noted and that the store
// has not any more, though nobody deleted them. It waits.
func (e *Engine) vanishedSessions() (string, error) {
	var marks []mark
	if e.hooks.Marks == nil || json.Unmarshal([]byte(e.hooks.Marks()), &marks) != nil {
		return "", nil
	}
	var names []string
	for _, m := range marks {
		p, err := e.store.Parts(m.ID, nil, nil)
		if err != nil {
			return "", err
		}
		if p.Session == nil && !p.Deleted {
			names = append(names, "“"+m.Name+"” ("+counted(m.Classes, "class", "es")+", "+counted(m.Examples, "picture", "s")+")")
		}
		if p.Session == nil {
			e.unmark = append(e.unmark, m.ID)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	return "The browser has lost or deleted what was kept here: " + strings.Join(names, ", ") + ". This page cannot bring it back: open the file it was last saved to.", nil
}

func counted(n int, what, plural string) string {
	if n == 1 {
		plural = ""
	}
	return strconv.Itoa(n) + " " + what + plural
}
