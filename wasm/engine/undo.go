package engine

import metaqda "metaqda/core"

// Undo takes back the step of a token, or the last step of all for an empty token. It returns
// the name of the step, empty if there is none.
func (e *Engine) Undo(token string) (name string, err error) {
	return e.again(func() (*metaqda.Step, error) {
		if token != "" {
			return e.taught.UndoStep(token)
		}
		return e.taught.Undo()
	})
}

// Redo repeats the step that was undone last and returns its name, empty if there is none.
func (e *Engine) Redo() (name string, err error) {
	return e.again(func() (*metaqda.Step, error) { return e.taught.Redo() })
}

func (e *Engine) again(f func() (*metaqda.Step, error)) (name string, err error) {
	_, err = e.change(func() error {
		s, err := f()
		if s == nil || err != nil {
			return err
		}
		name = s.Name
		if choice, ok := e.choices[s.ID]; ok && s.Undone {
			e.chose(choice[0])
		} else if ok {
			e.chose(choice[1])
		}
		return nil
	})
	return name, err
}

// ForgetUndo clears the undo history, and with it all removed data.
func (e *Engine) ForgetUndo() {
	_, _ = e.change(func() error {
		e.taught.ForgetUndo()
		e.keeping.sweep = true
		if len(e.commands) == 0 { // what other tabs have removed goes, too
			e.commands = append(e.commands, metaqda.Command{Do: metaqda.DoForget})
		}
		return nil
	})
}
