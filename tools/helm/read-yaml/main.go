// Reads YAML as kubectl -f does, for tests: each line of stdin is a text as a JSON string, and each line of stdout is its
// documents as a JSON array, or the error as a JSON string. kubectl's StreamVisitor skips empty documents and null.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"log"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func read(text string) (any, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	documents := []json.RawMessage{}
	for {
		extension := runtime.RawExtension{}
		err := decoder.Decode(&extension)
		if err == io.EOF {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		raw := bytes.TrimSpace(extension.Raw)
		if len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
			documents = append(documents, raw)
		}
	}
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return
		}
		var text string
		if err == nil {
			err = json.Unmarshal(line, &text)
		}
		if err != nil {
			log.Fatal(err)
		}
		result, problem := read(text)
		if problem != nil {
			result = problem.Error()
		}
		if err := encoder.Encode(result); err != nil {
			log.Fatal(err)
		}
	}
}
