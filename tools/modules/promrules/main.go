// Promrules asks Prometheus' own code whether alert rules hold, and whether it can read what a dashboard asks.
//
//	promrules RULES.yaml DASHBOARD.json
//
// The rules are a PrometheusRule: names, expressions, durations, and the templates of their labels and annotations.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"
)

func main() {
	if len(os.Args) != 3 {
		stop(errors.New("usage: promrules RULES.yaml DASHBOARD.json"))
	}
	promql := parser.NewParser(parser.Options{})
	alerts, wrong := rules(os.Args[1], promql)
	asked, more := dashboard(os.Args[2], promql)
	for _, err := range append(wrong, more...) {
		fmt.Println(err)
	}
	fmt.Printf("%d rules, %d expressions of the dashboard, %d wrong\n", alerts, asked, len(wrong)+len(more))
	if len(wrong)+len(more) > 0 || alerts == 0 || asked == 0 {
		os.Exit(1)
	}
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// rules counts the rules of a PrometheusRule, and says what is wrong with them.
func rules(file string, promql parser.Parser) (int, []error) {
	text, err := os.ReadFile(file)
	stop(err)
	object := struct{ Spec yaml.Node }{}
	stop(yaml.Unmarshal(text, &object))
	spec, err := yaml.Marshal(&object.Spec)
	stop(err)
	groups, wrong := rulefmt.Parse(spec, false, model.UTF8Validation, promql, slog.Default())
	count := 0
	if groups != nil {
		for _, group := range groups.Groups {
			count += len(group.Rules)
		}
	}
	return count, wrong
}

// dashboard counts the expressions of a Grafana dashboard, wherever in it they are, and says which cannot be read. A
// variable such as $job may stand in quotes, which Prometheus does not look into.
func dashboard(file string, promql parser.Parser) (count int, wrong []error) {
	text, err := os.ReadFile(file)
	stop(err)
	var root any
	stop(json.Unmarshal(text, &root))
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, below := range value {
				walk(below)
			}
		case map[string]any:
			if expr, ok := value["expr"].(string); ok {
				count++
				if _, err := promql.ParseExpr(expr); err != nil {
					wrong = append(wrong, fmt.Errorf("%s: %s: %w", file, expr, err))
				}
			}
			for _, below := range value {
				walk(below)
			}
		}
	}
	walk(root)
	return count, wrong
}
