// Command pulumi-resource-kubernetes serves the Kubernetes provider of the pinned module.
//
// The module's own command embeds two files that its release process generates and that the Go module
// therefore lacks; the build writes them next to this file from the module's schema (see build.py).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema-embed.json
var schema []byte

//go:embed terraform-mapping-embed.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
