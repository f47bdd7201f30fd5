package metaqda

import "metaqda/core/model"

// SetActions sets the actions of a class, which run when it comes or goes. An empty label sets the
// actions of none of these. Only the caller reads the text; files keep it. It returns a
// *[lda.LabelError] if there is no such class. It returns an [Error] with the code "limit" for a
// text longer than [model.MaxActions], or if all texts together are longer than
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
	if err := model.CheckActions(text); err != nil {
		return &Error{Code: "limit", Message: "The actions " + err.Error() + ": remove some, recordings first."}
	}
	if text == was {
		return nil
	}
	return c.do(Entry{Do: "actions", ID: id, Class: &Class{ID: id, Actions: text}})
}

// Actions returns the actions of none of these; a [Class] has its own.
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

// checkActions returns an error if all actions together would be too long once text replaces was.
func (c *Classifier) checkActions(was, text string) error {
	n := len(c.actions) + len(text) - len(was)
	if len(text) <= len(was) {
		return nil
	}
	for _, k := range c.classes {
		n += len(k.Actions)
	}
	if n > model.MaxAllActions {
		return &Error{Code: "limit", Message: "All classes together have too many actions: remove some, recordings first."}
	}
	return nil
}

// exchangeActions exchanges the actions of an entry with those of its class, or of none of these
// for an empty ID.
func (c *Classifier) exchangeActions(e *Entry) error {
	if e.Class == nil || e.ID != "" && c.ids[e.ID] == nil {
		return errGone
	}
	was := &Class{ID: e.ID, Actions: c.actions}
	if e.ID != "" {
		was.Actions = c.ids[e.ID].Actions
	}
	if err := c.checkActions(was.Actions, e.Class.Actions); err != nil {
		return err
	}
	if e.ID == "" {
		c.actions = e.Class.Actions
		c.tell(Change{Do: PutActions, Class: Class{Actions: c.actions}})
	} else {
		c.ids[e.ID].Actions = e.Class.Actions
		c.tellHead(c.ids[e.ID])
	}
	e.Class = was
	return nil
}
