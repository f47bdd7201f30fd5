package store

import "slices"

// ErrCleared is what a page has to say whose data were cleared while it was open.
var ErrCleared error = errCleared

// Words for changes that came too late.
var (
	errSession = &Error{Code: "session", Message: "This session does not exist any more: it was deleted, perhaps in another tab."}
	errCleared = &Error{Code: "cleared", Message: "The browser's storage was cleared, so this session is only in this tab: save it to a file before you close it."}
	errClass   = &Error{Code: "class", Message: "This class does not exist any more: it was removed, perhaps in another tab."}
	errLabel   = &Error{Code: "label", Message: "There is a class of this name already, added in another tab: choose another name."}
	errChanged = &Error{Code: "changed", Message: "Pictures were added to this class in another tab meanwhile, so it was not removed: look at them, then remove it again."}
)

// commit carries out changes in a transaction, each of which sees what those before it did.
// Its maps hold what was looked at or written; a nil is a record that is not there.
type commit struct {
	view
	sessions map[string]*Session
	classes  map[string]*Class
	ops      []Op // to be written before an index is asked, and at the end
}

// known returns what a map holds, or else what is found, which it then holds.
func known[T any](held map[string]*T, id string, find func(id string) (*T, error)) (*T, error) {
	v, ok := held[id]
	if ok {
		return v, nil
	}
	v, err := find(id)
	if err == nil {
		held[id] = v
	}
	return v, err
}

// check returns why a change is refused, nil if it is not.
func (c *commit) check(n Needs, ops []Op) (*Error, error) {
	if n.Session != "" {
		s, err := known(c.sessions, n.Session, c.session)
		if err != nil {
			return nil, err
		}
		if s == nil {
			if gone, err := c.deleted(n.Session); err != nil || !gone {
				return errCleared, err
			}
			return errSession, nil
		}
	}
	if n.Class != "" {
		k, err := known(c.classes, n.Class, c.class)
		if err != nil {
			return nil, err
		}
		if k == nil || k.Session != n.Session {
			return errClass, nil
		}
	}
	if n.Name != "" {
		taken, err := c.taken(n)
		if err != nil || taken {
			return errLabel, err
		}
	}
	if n.Whole {
		more, err := c.more(n.Class, ops)
		if err != nil || more {
			return errChanged, err
		}
	}
	return nil, nil
}

// taken reports whether another class of the session has the name.
func (c *commit) taken(n Needs) (bool, error) {
	ids, err := c.where(Classes, byName, []any{n.Session, n.Name})
	return slices.ContainsFunc(ids, func(id string) bool { return id != n.Class }), err
}

// more reports whether the class has examples that the operations do not delete.
func (c *commit) more(class string, ops []Op) (bool, error) {
	goes := make(map[string]bool, len(ops))
	for _, op := range ops {
		goes[op.Key] = op.Table == Examples && op.Value == nil
	}
	ids, err := c.where(Examples, byClass, class)
	return slices.ContainsFunc(ids, func(id string) bool { return !goes[id] }), err
}

func (c *commit) where(table Table, index string, value any) ([]string, error) {
	if err := c.write(); err != nil {
		return nil, err
	}
	return c.view.where(table, index, value)
}

func (c *commit) write() error {
	ops := c.ops
	c.ops = nil
	return write(c.transaction, ops)
}

// take notes operations, edits as what they come to.
func (c *commit) take(ops []Op) error {
	for _, op := range ops {
		switch v := op.Value.(type) {
		case Edit:
			s, err := known(c.sessions, op.Key, c.session)
			if err != nil {
				return err
			}
			if s == nil {
				continue
			}
			edited := *s
			v.Apply(&edited)
			op.Value, c.sessions[op.Key] = edited, &edited
		case Session:
			c.sessions[op.Key] = &v
		case Class:
			c.classes[op.Key] = &v
		case nil:
			switch op.Table {
			case Sessions:
				c.sessions[op.Key] = nil
			case Classes:
				c.classes[op.Key] = nil
			}
		}
		c.ops = append(c.ops, op)
	}
	return nil
}

// tombstone is the key in Meta that a deleted session leaves, so that a tab which
// still has it open can tell this from a storage that was cleared.
func tombstone(session string) string { return "deleted/" + session }
