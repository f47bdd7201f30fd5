package store

import "slices"

// ErrCleared is what a page has to say whose data were cleared while it was open.
var ErrCleared error = errCleared

// Words for changes that came too late.
var (
	errSession = &Error{Code: "session", Message: "This session does not exist any more: it was deleted, perhaps in another tab."}
	errCleared = &Error{Code: "cleared", Message: "What this page kept has been cleared from the browser's storage, and this session is only in this tab: save it to a file before you close it."}
	errClass   = &Error{Code: "class", Message: "This class does not exist any more: it was removed, perhaps in another tab."}
	errLabel   = &Error{Code: "label", Message: "There is a class of this name already, added in another tab: choose another name."}
	errChanged = &Error{Code: "changed", Message: "Pictures were added to this class in another tab meanwhile, so it was not removed: look at them, then remove it again."}
)

// resolve returns the plain operations, without edits, that the changes come to, and
// for each change why it is refused or nil. A change sees what those before it did.
func resolve(changes []Change, v view) (ops []Op, refused []error, err error) {
	o := &overlay{view: v, sessions: map[string]*Session{}, classes: map[string]*Class{}, added: map[string][]string{}, moved: map[string]string{}, records: map[Ref]bool{}}
	refused = make([]error, len(changes))
	for i, c := range changes {
		why, err := o.check(c)
		if err != nil {
			return nil, nil, err
		}
		if why != nil {
			refused[i] = why
			continue
		}
		plain, err := o.take(c.Ops)
		if err != nil {
			return nil, nil, err
		}
		ops = append(ops, plain...)
	}
	return ops, refused, nil
}

// overlay is a view with the operations so far carried out. Its maps hold what was
// looked at or written; a nil is a record that is not there.
type overlay struct {
	view
	sessions map[string]*Session
	classes  map[string]*Class
	added    map[string][]string // ids of examples by class
	moved    map[string]string   // class of an example that was written
	records  map[Ref]bool        // whether it is there
}

func (o *overlay) check(c Change) (*Error, error) {
	n := c.Needs
	if n.Session != "" {
		s, err := o.session(n.Session)
		if err != nil {
			return nil, err
		}
		if s == nil {
			if gone, err := o.deleted(n.Session); err != nil || !gone {
				return errCleared, err
			}
			return errSession, nil
		}
	}
	if n.Class != "" {
		k, err := o.class(n.Class)
		if err != nil {
			return nil, err
		}
		if k == nil || k.Session != n.Session {
			return errClass, nil
		}
	}
	if n.Name != "" {
		taken, err := o.taken(n)
		if err != nil || taken {
			return errLabel, err
		}
	}
	if n.Whole {
		more, err := o.more(n.Class, c.Ops)
		if err != nil || more {
			return errChanged, err
		}
	}
	return nil, nil
}

func (o *overlay) session(id string) (s *Session, err error) {
	s, ok := o.sessions[id]
	if !ok {
		if s, err = o.view.session(id); err == nil {
			o.sessions[id] = s
		}
	}
	return s, err
}

func (o *overlay) class(id string) (k *Class, err error) {
	k, ok := o.classes[id]
	if !ok {
		if k, err = o.view.class(id); err == nil {
			o.classes[id] = k
		}
	}
	return k, err
}

// taken reports whether another class of the session has the name.
func (o *overlay) taken(n Needs) (bool, error) {
	for id, k := range o.classes {
		if id != n.Class && k != nil && k.Session == n.Session && k.Name == n.Name {
			return true, nil
		}
	}
	ids, err := o.where(Classes, byName, []any{n.Session, n.Name})
	return slices.ContainsFunc(ids, func(id string) bool {
		_, known := o.classes[id] // and has another name here, or is gone
		return id != n.Class && !known
	}), err
}

// more reports whether the class has examples that the operations do not delete.
func (o *overlay) more(class string, ops []Op) (bool, error) {
	ids, err := o.where(Examples, byClass, class)
	if err != nil {
		return false, err
	}
	goes := make(map[string]bool, len(ops))
	for _, op := range ops {
		goes[op.Key] = op.Table == Examples && op.Value == nil
	}
	return slices.ContainsFunc(slices.Concat(ids, o.added[class]), func(id string) bool {
		there, known := o.records[Ref{Examples, id}]
		in, written := o.moved[id]
		return !goes[id] && (there || !known) && (!written || in == class)
	}), nil
}

// take notes operations that will be carried out.
func (o *overlay) take(ops []Op) ([]Op, error) {
	plain := make([]Op, 0, len(ops))
	for _, op := range ops {
		switch v := op.Value.(type) {
		case Edit:
			s, err := o.session(op.Key)
			if err != nil {
				return nil, err
			}
			if s == nil {
				continue
			}
			edited := *s
			v.Apply(&edited)
			op.Value = edited
			o.sessions[op.Key] = &edited
		case Session:
			o.sessions[op.Key] = &v
		case Class:
			o.classes[op.Key] = &v
		case Example:
			o.added[v.Class] = append(o.added[v.Class], op.Key)
			o.moved[op.Key] = v.Class
		}
		if op.Value == nil {
			switch op.Table {
			case Sessions:
				o.sessions[op.Key] = nil
			case Classes:
				o.classes[op.Key] = nil
			}
		}
		o.records[Ref{op.Table, op.Key}] = op.Value != nil
		plain = append(plain, op)
	}
	return plain, nil
}

// tombstone is the key in Meta that a deleted session leaves, so that a tab which
// still has it open can tell this from a storage that was cleared.
func tombstone(session string) string { return "deleted/" + session }
