package metaqda

import "metaqda/core/model"

// SetActions sets the actions of a class: what happens when it comes and goes. An empty label sets
// those of none of these. The text is the caller's: files keep it, and nothing here reads it. It
// returns a *[lda.LabelError] if there is no such class. It returns an [Error] with the code
// "limit" for a text longer than [model.MaxActions], or if all texts together are longer than
// [model.MaxAllActions].
func (c *Classifier) SetActions(label, text string) error {
	defer c.writing()()
	id, was := "", c.actions
	if label != "" {
		k, err := c.class(label)
		if err != nil {
			return err
		}
		id, was = k.ID, k.Actions
	}
	err := model.CheckActions(text)
	if err == nil && c.lengthOfActions()-len(was)+len(text) > model.MaxAllActions {
		return &Error{Code: "limit", Message: "All classes together have too many actions: remove some, recordings first."}
	}
	if err != nil {
		return &Error{Code: "limit", Message: "The actions " + err.Error() + ": remove some, recordings first."}
	}
	if text == was {
		return nil
	}
	return c.do(Entry{Do: "actions", ID: id, Class: &Class{ID: id, Actions: text}})
}

// Actions returns what happens when none of these comes and goes; a [Class] has its own.
func (c *Classifier) Actions() string {
	defer c.reading()()
	return c.actions
}

// ReplaceActions sets the actions of none of these to those of a stored session. It cannot be
// undone.
func (c *Classifier) ReplaceActions(text string) {
	defer c.writing()()
	c.actions = text
}

func (c *Classifier) lengthOfActions() int {
	n := len(c.actions)
	for _, k := range c.classes {
		n += len(k.Actions)
	}
	return n
}

// exchangeActions exchanges the actions of a class, or of none of these for an empty ID.
func (c *Classifier) exchangeActions(e *Entry) error {
	was := &Class{ID: e.ID, Actions: c.actions}
	if e.ID == "" {
		c.actions = e.Class.Actions
		c.tell(Change{Do: PutActions, Class: Class{Actions: c.actions}})
	} else {
		k := c.ids[e.ID]
		if k == nil {
			return errGone
		}
		was.Actions, k.Actions = k.Actions, e.Class.Actions
		c.tellHead(k)
	}
	e.Class = was
	return nil
}
