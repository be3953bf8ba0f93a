package main

import (
	"errors"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/countconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/connector/spanmetricsconnector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/loadbalancingexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/prometheusremotewriteexporter"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/healthcheckextension"
	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/filterprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/redactionprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/resourceprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/connector/forwardconnector"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/debugexporter"
	"go.opentelemetry.io/collector/exporter/otlpexporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/batchprocessor"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

// factories lists every component, each with the module that it comes from.
func factories() (otelcol.Factories, error) {
	found := otelcol.Factories{Telemetry: otelconftelemetry.NewFactory()}
	err := errors.Join(
		collect(&found.Receivers, &found.ReceiverModules, []receiver.Factory{
			otlpreceiver.NewFactory(),
			filelogreceiver.NewFactory(),
		}),
		collect(&found.Processors, &found.ProcessorModules, []processor.Factory{
			memorylimiterprocessor.NewFactory(),
			batchprocessor.NewFactory(),
			attributesprocessor.NewFactory(),
			filterprocessor.NewFactory(),
			redactionprocessor.NewFactory(),
			resourceprocessor.NewFactory(),
			tailsamplingprocessor.NewFactory(),
			transformprocessor.NewFactory(),
		}),
		collect(&found.Exporters, &found.ExporterModules, []exporter.Factory{
			debugexporter.NewFactory(),
			otlpexporter.NewFactory(),
			otlphttpexporter.NewFactory(),
			fileexporter.NewFactory(),
			loadbalancingexporter.NewFactory(),
			prometheusexporter.NewFactory(),
			prometheusremotewriteexporter.NewFactory(),
		}),
		collect(&found.Connectors, &found.ConnectorModules, []connector.Factory{
			forwardconnector.NewFactory(),
			countconnector.NewFactory(),
			spanmetricsconnector.NewFactory(),
		}),
		collect(&found.Extensions, &found.ExtensionModules, []extension.Factory{
			healthcheckextension.NewFactory(),
			filestorage.NewFactory(),
		}),
	)
	return found, err
}

// collect fills the two maps of one kind of component: type to factory, and type to module with its version.
func collect[F component.Factory](byType *map[component.Type]F, modules *map[component.Type]string, all []F) error {
	var err error
	*byType, err = otelcol.MakeFactoryMap(all...)
	*modules = make(map[component.Type]string, len(*byType))
	for kind, factory := range *byType { // an old name of a component is a type of its own here
		(*modules)[kind] = module(factory)
	}
	return err
}

// module is `path version` of the module that defines the factory's settings, by the build information of this program.
func module(factory component.Factory) string {
	settings := reflect.TypeOf(factory.CreateDefaultConfig())
	if settings.Kind() == reflect.Pointer {
		settings = settings.Elem()
	}
	build, _ := debug.ReadBuildInfo()
	found := debug.Module{}
	for _, dependency := range build.Deps {
		inside := strings.HasPrefix(settings.PkgPath()+"/", dependency.Path+"/")
		if inside && len(dependency.Path) > len(found.Path) {
			found = *dependency
		}
	}
	return found.Path + " " + found.Version
}
