// A peer of the bench: plans a table with iceberg-go, once for every line "plan" on standard input.
//
// Usage: iceplan-peer-go METADATA_JSON FILTER [--no-cache]. The protocol is described in ../README.md; what --no-cache
// switches off, in README.md beside this file.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/apache/iceberg-go"
	icebergio "github.com/apache/iceberg-go/io"
	"github.com/apache/iceberg-go/table"
)

func main() {
	if err := serve(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, arguments []string) error {
	cached := true
	if len(arguments) == 3 && arguments[2] == "--no-cache" {
		cached = false
		arguments = arguments[:2]
	}
	if len(arguments) != 2 {
		return errors.New("Usage: iceplan-peer-go METADATA_JSON FILTER [--no-cache]")
	}
	location := arguments[0]
	files := icebergio.LoadFSFunc(nil, location)
	loaded, err := table.NewFromLocation(ctx, table.Identifier{"bench", "table"}, location, files, nil)
	if err != nil {
		return err
	}
	filter, err := parseFilter(arguments[1])
	if err != nil {
		return err
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "plan" {
			return fmt.Errorf("Cannot obey %q: the only word is \"plan\"", line)
		}
		if !cached {
			// The cache of manifest lists belongs to the table object.
			loaded = table.New(loaded.Identifier(), loaded.Metadata(), location, files, nil)
		}
		report, err := plan(ctx, loaded, filter)
		if err != nil {
			return err
		}
		line, err := json.Marshal(report)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return lines.Err()
}

// parseFilter reads "none", "days:FROM..UNTIL" (ts >= FROM and ts < UNTIL) or "ids:N" (id < N).
func parseFilter(text string) (iceberg.BooleanExpression, error) {
	if text == "none" {
		return iceberg.AlwaysTrue{}, nil
	}
	if days, ok := strings.CutPrefix(text, "days:"); ok {
		from, until, ok := strings.Cut(days, "..")
		if ok {
			since, err := timestamp(from)
			if err != nil {
				return nil, err
			}
			before, err := timestamp(until)
			if err != nil {
				return nil, err
			}
			ts := iceberg.Reference("ts")
			return iceberg.NewAnd(
				iceberg.GreaterThanEqual(ts, since), iceberg.LessThan(ts, before)), nil
		}
	}
	if limit, ok := strings.CutPrefix(text, "ids:"); ok {
		number, err := strconv.ParseInt(limit, 10, 64)
		if err != nil {
			return nil, err
		}
		return iceberg.LessThan(iceberg.Reference("id"), number), nil
	}
	return nil, fmt.Errorf("Cannot filter by %q: it is none, days:FROM..UNTIL or ids:N", text)
}

func timestamp(text string) (iceberg.Timestamp, error) {
	instant, err := time.Parse(time.RFC3339Nano, text)
	return iceberg.Timestamp(instant.UnixMicro()), err
}

type report struct {
	Ms          float64  `json:"ms"`
	Tasks       int      `json:"tasks"`
	Deletes     int      `json:"deletes"`
	Records     int64    `json:"records"`
	FirstTaskMs *float64 `json:"firstTaskMs"`
	RssMiB      *int     `json:"rssMiB"`
}

// pathBytes keeps the compiler from dropping the look at each path.
var pathBytes int

// plan plans once. All tasks arrive together, in a slice. A file that was cut at its split offsets comes as several
// tasks that follow each other; they count as one, since the other peers plan whole files.
func plan(ctx context.Context, planned *table.Table, filter iceberg.BooleanExpression) (report, error) {
	var made report
	started := time.Now()
	tasks, err := planned.Scan(table.WithRowFilter(filter)).PlanFiles(ctx)
	if err != nil {
		return made, err
	}
	if len(tasks) > 0 {
		made.FirstTaskMs = milliseconds(started)
	}
	for i := range tasks {
		task := &tasks[i]
		if i > 0 && task.Start > 0 && task.File == tasks[i-1].File {
			continue
		}
		made.Tasks++
		made.Deletes += len(task.DeleteFiles) + len(task.EqualityDeleteFiles) + len(task.DeletionVectorFiles)
		made.Records += task.File.Count()
		pathBytes += len(task.File.FilePath())
	}
	made.Ms = *milliseconds(started)
	made.RssMiB = residentMebibytes()
	return made, nil
}

func milliseconds(since time.Time) *float64 {
	elapsed := float64(time.Since(since).Nanoseconds()) / 1e6
	return &elapsed
}

// residentMebibytes is the resident memory now, or nil where the system has no /proc.
func residentMebibytes() *int {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(status)) {
		if kibibytes, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(kibibytes), " kB"))
			if err != nil {
				return nil
			}
			mebibytes := number / 1024
			return &mebibytes
		}
	}
	return nil
}
