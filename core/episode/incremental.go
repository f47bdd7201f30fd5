package episode

// Incremental describes few-shot class-incremental learning: base classes
// with all their rows, then sessions that each add a few new classes with a
// few rows.
type Incremental struct {
	Way     int // new classes of a session
	Shot    int // support rows of a new class
	HeldOut int // query rows of every class, base or new, never in a support
}

// Session is one step of an incremental run: session 0 holds the base classes,
// the later ones the classes added then.
type Session struct {
	Classes []int   // new classes: index into the base pool in session 0, else into the novel pool
	Support [][]int // support rows of each new class
	Query   [][]int // held-out rows of each new class; a session is tested on those of all sessions so far
}

// Sessions returns the run-th run: as many sessions as the novel classes
// allow. The base session is the same in every run, so that what was learned
// from it may be kept; order and support of the novel classes differ.
// It fails when a class is too small, or there are too few novel classes for
// one session.
func (c Incremental) Sessions(base, novel Pool, seed uint64, run int) ([]Session, error) {
	if err := c.check(base, novel); err != nil {
		return nil, err
	}
	rng := generator(seed, -1)
	var s Session
	for k := range base.Rows {
		rows := pick(rng, base.Rows[k], len(base.Rows[k]))
		s.add(k, rows[c.HeldOut:], rows[:c.HeldOut])
	}
	sessions := []Session{s}
	rng = generator(seed, run)
	order := choose(rng, len(novel.Rows), len(novel.Rows))
	for ; len(order) >= c.Way; order = order[c.Way:] {
		var s Session
		for _, k := range order[:c.Way] {
			rows := pick(rng, novel.Rows[k], c.Shot+c.HeldOut)
			s.add(k, rows[:c.Shot], rows[c.Shot:])
		}
		sessions = append(sessions, s)
	}
	return sessions, nil
}

func (c Incremental) check(base, novel Pool) error {
	for _, v := range []struct {
		name  string
		value int
	}{{"new classes of a session", c.Way}, {"shot", c.Shot}, {"held-out rows", c.HeldOut}} {
		if v.value < 1 {
			return &ConfigError{v.name, v.value, "at least 1"}
		}
	}
	if err := base.need(1, c.HeldOut+1); err != nil {
		return err
	}
	return novel.need(c.Way, c.Shot+c.HeldOut)
}

func (s *Session) add(class int, support, query []int) {
	s.Classes = append(s.Classes, class)
	s.Support = append(s.Support, support)
	s.Query = append(s.Query, query)
}
