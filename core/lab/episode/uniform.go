package episode

// Config describes C-way K-shot episodes.
type Config struct {
	Way   Range // classes of an episode
	Shot  Range // support rows of a class
	Query Range // query rows of a class

	// Imbalanced draws the shot for each class; otherwise all classes of an
	// episode have the same shot.
	Imbalanced bool

	// Concentration, unless it is 0, gives the classes of an episode unequal numbers of queries. A
	// draw of the symmetric Dirichlet distribution with this parameter divides the same total. The
	// classes must have enough rows for every shot that may be drawn.
	Concentration int

	// UnknownClasses is the number of classes outside the episode that supply queries labelled
	// Unknown. Each supplies as many as a class of the episode.
	UnknownClasses int
}

// Fixed returns the configuration with exact counts.
func Fixed(way, shot, query int) Config {
	return Config{Way: Exactly(way), Shot: Exactly(shot), Query: Exactly(query)}
}

// Uniform draws classes uniformly without replacement, then rows uniformly
// without replacement.
type Uniform struct {
	pool Pool
	c    Config
	seed uint64
	most []int // queries that each class can supply; nil if all supply the same number
}

// NewUniform returns a sampler over the pool. It fails when the pool cannot
// serve the largest episode of the configuration.
func NewUniform(pool Pool, c Config, seed uint64) (*Uniform, error) {
	if err := checkRanges(named{"way", c.Way, 1}, named{"shot", c.Shot, 1}, named{"queries per class", c.Query, 0},
		named{"unseen classes", Exactly(c.UnknownClasses), 0}, named{"concentration of the class sizes", Exactly(c.Concentration), 0}); err != nil {
		return nil, err
	}
	pool = separated(pool)[0]
	if err := pool.need(c.Way.Max+c.UnknownClasses, c.Shot.Max, c.Query.Max); err != nil {
		return nil, err
	}
	s := &Uniform{pool: pool, c: c, seed: seed}
	if c.Concentration > 0 {
		for k := range pool.Rows {
			s.most = append(s.most, pool.mostQueries(k, c.Shot.Max, c.Query.Max))
		}
	}
	return s, nil
}

// Episode returns episode i.
func (s *Uniform) Episode(i int) Episode {
	rng := generator(s.seed, i)
	way := s.c.Way.draw(rng)
	shot := s.c.Shot.draw(rng)
	query := s.c.Query.draw(rng)
	classes := choose(rng, len(s.pool.Rows), way+s.c.UnknownClasses)
	sizes := s.sizes(rng, classes[:way], query)
	var e Episode
	for j, c := range classes {
		if j >= way {
			e.addQueries(pick(rng, s.pool.Rows[c], query), Unknown)
			continue
		}
		if s.c.Imbalanced && j > 0 {
			shot = s.c.Shot.draw(rng)
		}
		support, queries := s.pool.divide(rng, c, shot, sizes[j], sizes[j])
		e.Classes = append(e.Classes, c)
		e.Support = append(e.Support, support)
		e.addQueries(queries, j)
	}
	return e
}

func (e *Episode) addQueries(rows []int, label int) {
	for _, r := range rows {
		e.Query = append(e.Query, r)
		e.QueryLabel = append(e.QueryLabel, label)
	}
}
