// Admit asks the API server's own code what it thinks of an XRD: whether it takes the CRDs that Crossplane makes of it, and
// which objects, and which changes of an object, it then admits.
//
//	admit XRD.yaml TABLE.yaml
//
// The table is a list of rows: why (what the row shows), spec, old (the spec before the change; left out: the object is
// new), and refused (a part of the message; left out: it is admitted). Each row is tried as composite and as claim.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xpv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"
)

type row struct {
	Why     string          `json:"why"`
	Spec    json.RawMessage `json:"spec"`
	Old     json.RawMessage `json:"old"`
	Refused string          `json:"refused"`
}

// A kind is what the API server knows of one of the two CRDs.
type kind struct {
	name       string
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	cel        *cel.Validator
}

func main() {
	if len(os.Args) != 3 {
		stop(errors.New("usage: admit XRD.yaml TABLE.yaml"))
	}
	kinds, err := kindsOf(os.Args[1])
	stop(err)
	rows := []row{}
	stop(read(os.Args[2], &rows))
	wrong := 0
	for _, row := range rows {
		for _, kind := range kinds {
			if what := kind.judge(row); what != "" {
				fmt.Printf("%s, %s: %s\n", kind.name, row.Why, what)
				wrong++
			}
		}
	}
	fmt.Printf("%d rows for %d kinds, %d wrong\n", len(rows), len(kinds), wrong)
	if wrong > 0 || len(rows) == 0 {
		os.Exit(1)
	}
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func read(file string, into any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// kindsOf makes CRDs of an XRD as Crossplane does, and takes them as the API server does, the cost of their rules included.
func kindsOf(file string) ([]kind, error) {
	xrd := &xpv1.CompositeResourceDefinition{}
	if err := read(file, xrd); err != nil {
		return nil, err
	}
	xrd.UID = "1" // what Crossplane makes belongs to it
	makers := []func(*xpv1.CompositeResourceDefinition) (*extv1.CustomResourceDefinition, error){
		xcrd.ForCompositeResource, xcrd.ForCompositeResourceClaim,
	}
	kinds := []kind{}
	for _, make := range makers {
		crd, err := make(xrd)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		kind, err := kindOf(crd)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", file, crd.Spec.Names.Kind, err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

func kindOf(v1 *extv1.CustomResourceDefinition) (kind, error) {
	extv1.SetDefaults_CustomResourceDefinition(v1)
	extv1.SetDefaults_CustomResourceDefinitionSpec(&v1.Spec)
	crd := &apiextensions.CustomResourceDefinition{}
	if err := extv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(v1, crd, nil); err != nil {
		return kind{}, err
	}
	crd.Status.StoredVersions = []string{crd.Spec.Versions[0].Name}
	if errs := crdvalidation.ValidateCustomResourceDefinition(context.Background(), crd); len(errs) > 0 {
		return kind{}, errs.ToAggregate()
	}
	root := crd.Spec.Versions[0].Schema
	if root == nil {
		root = crd.Spec.Validation
	}
	structural, err := structuralschema.NewStructural(root.OpenAPIV3Schema)
	if err != nil {
		return kind{}, err
	}
	schema, _, err := validation.NewSchemaValidator(root.OpenAPIV3Schema)
	if err != nil {
		return kind{}, err
	}
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return kind{v1.Spec.Names.Kind, structural, schema, rules}, nil
}

// judge says what is wrong with a row, if anything.
func (k kind) judge(row row) string {
	object, err := k.object(row.Spec)
	if err != nil {
		return err.Error()
	}
	var errs field.ErrorList
	if row.Old == nil {
		errs = validation.ValidateCustomResource(nil, object, k.schema)
		errs = append(errs, k.rules(object, nil)...)
	} else {
		old, err := k.object(row.Old)
		if err != nil {
			return err.Error()
		}
		correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: k.structural})
		errs = validation.ValidateCustomResourceUpdate(nil, object, old, k.schema, validation.WithRatcheting(correlated))
		errs = append(errs, k.rules(object, old, cel.WithRatcheting(correlated))...)
	}
	told := ""
	if len(errs) > 0 {
		told = errs.ToAggregate().Error()
	}
	switch {
	case row.Refused == "" && told != "":
		return "is refused: " + told
	case row.Refused != "" && told == "":
		return "is admitted"
	case !strings.Contains(told, row.Refused):
		return "is refused for another reason: " + told
	}
	return ""
}

func (k kind) rules(object, old any, options ...cel.Option) field.ErrorList {
	errs, _ := k.cel.Validate(
		context.Background(), nil, k.structural, object, old, celconfig.RuntimeCELCostBudget, options...)
	return errs
}

// object is what the API server keeps of an object with this spec.
func (k kind) object(spec json.RawMessage) (map[string]any, error) {
	fields := map[string]any{}
	if err := json.Unmarshal(spec, &fields); err != nil {
		return nil, err
	}
	object := map[string]any{
		"apiVersion": "asya.sh/v1alpha1", "kind": k.name,
		"metadata": map[string]any{"name": "echo"}, "spec": whole(fields),
	}
	pruning.Prune(object, k.structural, true)
	return object, nil
}

// whole turns numbers without a fraction into integers, as the API server reads them.
func whole(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			value[key] = whole(below)
		}
	case []any:
		for index, below := range value {
			value[index] = whole(below)
		}
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	}
	return value
}
