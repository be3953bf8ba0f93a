// Command otelcol-contrib is an OpenTelemetry Collector with the components that Plumbline uses, and no others.
//
// It carries the name of the official distribution, of whose components it has a part: a configuration
// that it accepts is one for the official image too.
package main

import (
	"os"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/confmap/provider/yamlprovider"
	"go.opentelemetry.io/collector/otelcol"
)

// Version is what the collector reports of itself; the build sets it.
var Version = "unknown"

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{
			Command:     "otelcol-contrib",
			Description: "OpenTelemetry Collector, built by Plumbline",
			Version:     Version,
		},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{
					envprovider.NewFactory(),
					fileprovider.NewFactory(),
					yamlprovider.NewFactory(),
				},
			},
		},
	})
	if command.Execute() != nil { // the command has printed the error
		os.Exit(1)
	}
}
