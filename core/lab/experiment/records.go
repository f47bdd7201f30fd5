package experiment

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"metaqda/core/lab/metrics"
)

// Record is the contribution of one episode to one row of the results. Shards write records, not
// averages: summing them in the order of the episodes gives the bits of the undivided run.
type Record struct {
	Episode int            `json:"episode"`
	Raw     *metrics.Tally `json:"raw"`
	Scaled  *metrics.Tally `json:"scaled,omitempty"` // at the temperature fitted on validation tasks
	Open    *OpenRecord    `json:"open,omitempty"`
	Novel   Hits           `json:"novel,omitzero"` // queries of classes added in sessions
}

// damage continues "record 3 ..." with what is wrong with a record that was read, or is "".
func (r *Record) damage(protocol string) string {
	if r == nil {
		return "is null"
	}
	switch {
	case r.Raw == nil:
		return `has no "raw"`
	case protocol == Sessions && (r.Open == nil || r.Open.None == nil):
		return `has no "open" with "none"`
	}
	tallies := []*metrics.Tally{r.Raw, r.Scaled}
	if r.Open != nil {
		tallies = append(tallies, r.Open.None)
	}
	for _, a := range tallies {
		switch {
		case a == nil:
		case len(a.Bins) != metrics.DefaultBins:
			return fmt.Sprintf("has a tally of %d bins in place of %d", len(a.Bins), metrics.DefaultBins)
		case a.Queries < 1:
			return "has a tally of no queries"
		}
	}
	if o := r.Open; o != nil && (min(len(o.KnownMax), len(o.UnseenMax)) == 0 || o.None != nil && min(len(o.Known), len(o.Unseen)) == 0) {
		return `has no scores in "open"`
	}
	return ""
}

// Hits counts how often something was true.
type Hits struct {
	Queries int `json:"queries"`
	Correct int `json:"correct"`
}

func (h *Hits) count(hit bool) {
	h.Queries++
	if hit {
		h.Correct++
	}
}

// OpenRecord is the detection of unseen classes in one episode. Scores grow
// with the belief that the query belongs to none of the classes.
type OpenRecord struct {
	Known     ScoreList      `json:"known,omitempty"`  // log odds of none, queries of known classes
	Unseen    ScoreList      `json:"unseen,omitempty"` // same, queries of unseen classes
	KnownMax  ScoreList      `json:"known_max"`        // log odds of 1 - largest class probability, see [notBestTo]
	UnseenMax ScoreList      `json:"unseen_max"`
	None      *metrics.Tally `json:"none,omitempty"` // probability of none at even odds, as a two-class prediction
}

// A ScoreList is written to JSON as base64 of float32: exact, and a fraction of
// the size of decimals.
type ScoreList []float32

// MarshalJSON implements json.Marshaler.
func (f ScoreList) MarshalJSON() ([]byte, error) {
	b, err := binary.Append([]byte{}, binary.LittleEndian, []float32(f))
	if err != nil {
		return nil, err
	}
	return json.Marshal(b)
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *ScoreList) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil || len(b)%4 != 0 {
		return errors.New("scores are not base64 of 32-bit numbers")
	}
	*f = make(ScoreList, len(b)/4)
	_, err := binary.Decode(b, binary.LittleEndian, []float32(*f))
	return err
}

func (f ScoreList) wide() []float64 {
	w := make([]float64, len(f))
	for i, v := range f {
		w[i] = float64(v)
	}
	return w
}

// Block is all records of one row of the results.
type Block struct {
	Method      string    `json:"method"`
	Data        string    `json:"data"`
	Way         int       `json:"way,omitempty"`     // 0: drawn for each episode
	Shot        int       `json:"shot,omitempty"`    // 0: drawn for each class
	Session     *int      `json:"session,omitempty"` // of incremental learning
	Classes     int       `json:"classes,omitempty"` // classes seen by that session
	Temperature *float64  `json:"temperature,omitempty"`
	Records     []*Record `json:"records"`
}

// Interval is a mean with the half-width of its 95 % confidence interval.
type Interval struct {
	Mean float64 `json:"mean"`
	CI95 float64 `json:"ci95"`
}

// Result is one row of the results. Rates lie in [0, 1]; what was not measured
// is null.
type Result struct {
	Method   string   `json:"method"`
	Data     string   `json:"data"`
	Way      *int     `json:"way"`
	Shot     *int     `json:"shot"`
	Session  *int     `json:"session,omitempty"`
	Classes  *int     `json:"classes,omitempty"`
	Tasks    int      `json:"tasks"`
	Queries  int      `json:"queries"`
	Accuracy Interval `json:"accuracy"`
	NLL      float64  `json:"nll"`
	Brier    float64  `json:"brier"`
	ECE      float64  `json:"ece"`
	MCE      float64  `json:"mce"`

	Temperature *float64 `json:"temperature"`
	NLLTS       *float64 `json:"nll_ts"`
	BrierTS     *float64 `json:"brier_ts"`
	ECETS       *float64 `json:"ece_ts"`
	MCETS       *float64 `json:"mce_ts"`

	AUROCNone    *float64 `json:"auroc_none"`              // mean over the tasks
	AUPRNone     *float64 `json:"aupr_none"`               // mean over the tasks
	AUROCPooled  *float64 `json:"auroc_none_pooled"`       // all queries of all tasks together
	AUROCMaxProb *float64 `json:"auroc_max_probability"`   // of 1 - largest class probability, mean over the tasks
	AUPRMaxProb  *float64 `json:"aupr_max_probability"`    // likewise
	ECENone      *float64 `json:"ece_none"`                // of the probability of none at even odds
	BrierNone    *float64 `json:"brier_none"`              // (p_none - [unseen])^2, in [0, 1]
	AccuracyNone *float64 `json:"accuracy_none,omitempty"` // decisions none or not that are right

	// For sessions as people make them: none of these at even odds. Methods without it use one minus
	// the largest probability.
	NoneAUROC    *float64 `json:"none_auroc,omitempty"`    // mean over the tasks
	NoneECE      *float64 `json:"none_ece,omitempty"`      // of the probability of none
	NoneBrier    *float64 `json:"none_brier,omitempty"`    // (p_none - [unseen])^2, in [0, 1]
	WronglyNone  *float64 `json:"wrongly_none,omitempty"`  // share of the queries of taught classes with p_none > 1/2
	WronglyKnown *float64 `json:"wrongly_known,omitempty"` // share of the queries of unseen classes with p_none < 1/2

	// For incremental learning, which balances base and new classes on validation classes: the
	// accuracy without balance, and on new classes alone.
	AccuracyAsIs  *Interval `json:"accuracy_as_is,omitempty"`
	AccuracyNovel *float64  `json:"accuracy_novel,omitempty"`

	EpisodeAccuracy []float64           `json:"episode_accuracy"`
	Bins            metrics.Reliability `json:"bins"`
	BinsTS          metrics.Reliability `json:"bins_ts,omitempty"`
}

// result sums the records of a block, which are in the order of the episodes.
func (b *Block) result() *Result {
	r := &Result{Method: b.Method, Data: b.Data, Way: positive(b.Way), Shot: positive(b.Shot), Session: b.Session,
		Classes: positive(b.Classes), Tasks: len(b.Records), Temperature: b.Temperature}
	records := b.Records
	if b.Session != nil {
		records = r.addSession(records)
	}
	raw, scaled := metrics.NewTally(metrics.DefaultBins), metrics.NewTally(metrics.DefaultBins)
	for _, e := range records {
		raw.Merge(e.Raw)
		if e.Scaled != nil {
			scaled.Merge(e.Scaled)
		}
		r.EpisodeAccuracy = append(r.EpisodeAccuracy, e.Raw.Accuracy())
	}
	r.Accuracy.Mean, r.Accuracy.CI95 = metrics.MeanCI(r.EpisodeAccuracy)
	r.Queries, r.Bins = raw.Queries, raw.Bins
	r.NLL, r.Brier, r.ECE, r.MCE = raw.MeanLoss(), raw.MeanBrier(), raw.Bins.ECE(), raw.Bins.MCE()
	if scaled.Queries > 0 {
		r.BinsTS = scaled.Bins
		r.NLLTS, r.BrierTS = new(scaled.MeanLoss()), new(scaled.MeanBrier())
		r.ECETS, r.MCETS = new(scaled.Bins.ECE()), new(scaled.Bins.MCE())
	}
	r.addOpen(records)
	return r
}

// addSession adds the fields of incremental learning. It returns the records with the balanced
// scores, which count.
func (r *Result) addSession(records []*Record) []*Record {
	var asIs []float64
	var novel Hits
	balanced := make([]*Record, len(records))
	for i, e := range records {
		asIs = append(asIs, e.Raw.Accuracy())
		novel.Queries += e.Novel.Queries
		novel.Correct += e.Novel.Correct
		balanced[i] = &Record{Episode: e.Episode, Raw: e.Raw}
		if e.Scaled != nil {
			balanced[i].Raw = e.Scaled
		}
	}
	r.AccuracyAsIs = &Interval{}
	r.AccuracyAsIs.Mean, r.AccuracyAsIs.CI95 = metrics.MeanCI(asIs)
	if novel.Queries > 0 {
		r.AccuracyNovel = new(float64(novel.Correct) / float64(novel.Queries))
	}
	return balanced
}

// addOpen adds the measures of the detection of unseen classes.
func (r *Result) addOpen(records []*Record) {
	var roc, pr, rocMax, prMax []float64
	var known, unseen []float64
	none := metrics.NewTally(metrics.DefaultBins)
	for _, e := range records {
		o := e.Open
		if o == nil {
			return
		}
		rocMax = append(rocMax, metrics.AUROC(o.UnseenMax.wide(), o.KnownMax.wide()))
		prMax = append(prMax, metrics.AUPR(o.UnseenMax.wide(), o.KnownMax.wide()))
		if o.None == nil {
			continue
		}
		roc = append(roc, metrics.AUROC(o.Unseen.wide(), o.Known.wide()))
		pr = append(pr, metrics.AUPR(o.Unseen.wide(), o.Known.wide()))
		known, unseen = append(known, o.Known.wide()...), append(unseen, o.Unseen.wide()...)
		none.Merge(o.None)
	}
	r.AUROCMaxProb, r.AUPRMaxProb = mean(rocMax), mean(prMax)
	r.AUROCNone, r.AUPRNone = r.AUROCMaxProb, r.AUPRMaxProb // methods without none of these
	if len(roc) > 0 {
		r.AUROCNone, r.AUPRNone = mean(roc), mean(pr)
		r.AUROCPooled = new(metrics.AUROC(unseen, known))
		// The tally's Brier score counts both outcomes, the same twice.
		r.ECENone, r.BrierNone, r.AccuracyNone = new(none.Bins.ECE()), new(none.MeanBrier()/2), new(none.Accuracy())
	}
}

func mean(x []float64) *float64 {
	if len(x) == 0 {
		return nil
	}
	m, _ := metrics.MeanCI(x)
	return &m
}

func positive(n int) *int {
	if n <= 0 {
		return nil
	}
	return &n
}
