package integration

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wkwfs/wkwfs/integration/torture"
)

var (
	tortureTime  = flag.Duration("torture.time", 0, "for how long TestTorture starts cases; 0: one of each trial")
	tortureSeed  = flag.Uint64("torture.seed", 0, "of TestTorture; 0: another one each time")
	tortureTrial = flag.String("torture.trial", "",
		"the names of the trials that TestTorture runs, with commas between them; empty: all")
	tortureCase = flag.String("torture.case", "",
		"the JSON of one case of the trial, which TestTorture runs instead of random ones")
)

// trials are the ways in which TestTorture tries the program. A new one is a file of its own and a line here.
var trials = []torture.Trial{
	treeTrial,
	permissionTrial,
	metadataTrial,
	damageTrial,
	faultsTrial,
	importTrial,
	settingsTrial,
	lateTrial,
	geometryTrial,
	writersTrial,
	lyingTrial,
	versionsTrial,
	panicsTrial,
	memoryTrial,
}

// TestTorture runs random cases of all trials, and makes those that fail small.
func TestTorture(t *testing.T) {
	requireFUSE(t)
	chosen := chosenTrials(t)
	if *tortureCase != "" {
		if len(chosen) != 1 {
			t.Fatalf("a case is of one trial: name it with -torture.trial, which is %q", *tortureTrial)
		}
		tryCase(t, chosen[0], []byte(*tortureCase))
		return
	}
	seed := *tortureSeed
	if seed == 0 {
		seed = rand.Uint64() >> 32
	}
	torture.Run(t, torture.Options{
		Seed:   seed,
		Time:   *tortureTime,
		Shrink: 5 * time.Minute,
		Limit:  5 * time.Minute,
		Again:  "go test ./integration -run '^TestTorture$' -torture.trial=",
	}, chosen...)
}

// chosenTrials returns the trials that the flag names.
func chosenTrials(t *testing.T) []torture.Trial {
	t.Helper()
	if *tortureTrial == "" {
		return trials
	}
	var chosen []torture.Trial
	for name := range strings.SplitSeq(*tortureTrial, ",") {
		chosen = append(chosen, trialCalled(t, name))
	}
	return chosen
}

func trialCalled(t *testing.T, name string) torture.Trial {
	t.Helper()
	i := slices.IndexFunc(trials, func(trial torture.Trial) bool { return trial.Name == name })
	if i < 0 {
		t.Fatalf("no trial is called %q", name)
	}
	return trials[i]
}

func tryCase(t *testing.T, trial torture.Trial, text []byte) {
	t.Helper()
	c, err := trial.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	trial.Try(t, c)
}

// TestTortureCases runs the cases that failed once: testdata/torture/TRIAL/NAME.json, as TestTorture printed them.
func TestTortureCases(t *testing.T) {
	requireFUSE(t)
	files, err := filepath.Glob("testdata/torture/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		trial := filepath.Base(filepath.Dir(name))
		t.Run(trial+"/"+strings.TrimSuffix(filepath.Base(name), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tryCase(t, trialCalled(t, trial), text)
		})
	}
}
