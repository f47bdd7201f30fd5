// Command streams measures events: things come and go before a camera or a microphone. It makes
// streams of ten minutes at four answers a second, from embeddings of pictures, hands and sounds. The
// streams have things that are taught, things that are not, and pauses. It compares a watch with
// three other rules, and with a bound for all rules. It also counts how often the headline of a live
// view changes:
//
//	go run ./scripts/streams -data build/data -bursts build/bursts
//
// The folder -data has the sets of pictures, hands/ and sounds/. The folder -bursts has sets of
// pictures in several frames each. A picture with fewer than five further frames gets frames like
// these: the difference between two successive frames of another set is added to it. `make streams`
// makes both folders and runs the command.
//
// The constants of the watch were chosen on all of these sets. The command prints a table for all
// sets, one for every second set and one for the others, to show how much sets differ.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	metaqda "metaqda/core"
	"metaqda/core/lab/dataset"
)

func main() {
	data := flag.String("data", "build/data", "folder of embeddings")
	bursts := flag.String("bursts", "build/bursts", "folder of embeddings of frames")
	lodo := flag.String("priors", "", "folder with a prior for each set of pictures, without-NAME.safetensors, learned without its family; empty for the shipped prior")
	seeds := flag.Int("seeds", 6, "streams of each set")
	perHour := flag.String("per-hour", "1,10", "false events allowed per hour, a watch for each, separated by commas")
	flag.Parse()
	all, err := rules(*perHour)
	if err == nil {
		err = run(*data, *bursts, *lodo, *seeds, all)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "streams:", err)
		os.Exit(1)
	}
}

// groups are rows of the table, in this order.
var groups = []string{"pictures of things taught", "pictures of others of the class", "hands", "sounds", "all"}

func run(data, bursts, lodo string, seeds int, rules []rule) error {
	all, err := sources(data, bursts, lodo)
	if err != nil {
		return err
	}
	table := map[string]*figures{} // by half, group and rule
	said := map[string]*live{}     // by group and kind of headline
	var bounds []*bound
	for _, s := range scores {
		bounds = append(bounds, &bound{score: s.of})
	}
	for n, s := range all {
		for seed := range seeds {
			stream, err := s.stream(rand.New(rand.NewPCG(uint64(n), uint64(seed))))
			if err != nil {
				return fmt.Errorf("%s: %w", s.set.Name, err)
			}
			for _, b := range bounds {
				b.add(stream)
			}
			for _, h := range headlines {
				decisions, err := h.of(stream)
				if err != nil {
					return err
				}
				for _, group := range []string{s.group(), "all"} {
					if said[group+h.name] == nil {
						said[group+h.name] = &live{}
					}
					said[group+h.name].add(stream, decisions)
				}
			}
			for _, r := range rules {
				events, err := r.events(stream)
				if err != nil {
					return err
				}
				for _, group := range []string{s.group(), "all"} {
					for _, half := range []string{"all sets", halves[s.number%2]} {
						key := half + group + r.name
						if table[key] == nil {
							table[key] = &figures{}
						}
						table[key].add(stream, events)
					}
				}
			}
		}
	}
	for _, half := range append([]string{"all sets"}, halves[:]...) {
		fmt.Printf("\n| %s | rule | false an hour | repeated an hour | missed, %% | median seconds |\n|---|---|---|---|---|---|\n", half)
		for _, group := range groups {
			for _, r := range rules {
				if f := table[half+group+r.name]; f != nil {
					fmt.Printf("| %s, %d streams | %s | %s |\n", group, f.streams, r.name, f)
				}
			}
		}
	}
	fmt.Printf("\n| headline of a live view | by | other words a minute | another class a minute | never named, %% | median seconds |\n|---|---|---|---|---|---|\n")
	for _, group := range groups {
		for _, h := range headlines {
			if l := said[group+h.name]; l != nil {
				fmt.Printf("| %s | %s | %s |\n", group, h.name, l)
			}
		}
	}
	printBounds(bounds)
	return nil
}

var halves = [2]string{"every second set", "other sets"}

func (s *source) group() string {
	switch {
	case s.kind != "pictures":
		return s.kind
	case s.own:
		return groups[0]
	}
	return groups[1]
}

// sources returns the sources of the streams: each set of pictures twice.
func sources(data, bursts, lodo string) (all []*source, err error) {
	for _, kind := range []struct{ name, folder, prior string }{
		{"pictures", data, "default"}, {"hands", filepath.Join(data, "hands"), "hands"}, {"sounds", filepath.Join(data, "sounds"), "sounds"},
	} {
		prior, err := read(filepath.Join("web/prior", kind.prior+".safetensors"))
		if err != nil {
			return nil, err
		}
		names, err := filepath.Glob(filepath.Join(kind.folder, "*.npz"))
		if err != nil || len(names) < 2 {
			return nil, fmt.Errorf("%s has %d data sets of %s, want two or more: run `make embed`", kind.folder, len(names), kind.name)
		}
		var own []*source
		for n, name := range names {
			if frames := filepath.Join(bursts, filepath.Base(name)); kind.name == "pictures" && exists(frames) {
				name = frames
			}
			set, err := dataset.Load(name)
			if err != nil {
				return nil, err
			}
			own = append(own, &source{kind: kind.name, set: set, prior: prior, number: n})
		}
		for n, s := range own {
			if lodo != "" && kind.name == "pictures" {
				if s.prior, err = read(filepath.Join(lodo, "without-"+s.set.Name+".safetensors")); err != nil {
					return nil, err
				}
			}
			s.other = own[(n+1)%len(own)].set
			if kind.name == "pictures" {
				s.moves = moves(own, s)
				taught := *s
				taught.own = true
				all = append(all, &taught)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

func read(file string) (*metaqda.Prior, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return metaqda.DecodePrior(content)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// moves returns the differences between successive frames of one thing, for all sets but one.
func moves(of []*source, but *source) (all [][]float32) {
	for _, s := range of {
		for row := 1; s != but && s.set.Groups != nil && row < s.set.Len(); row++ {
			if s.set.Groups[row] == s.set.Groups[row-1] {
				d := make([]float32, s.set.Dim)
				for i, v := range s.set.Row(row) {
					d[i] = v - s.set.Row(row - 1)[i]
				}
				all = append(all, d)
			}
		}
	}
	return all
}
