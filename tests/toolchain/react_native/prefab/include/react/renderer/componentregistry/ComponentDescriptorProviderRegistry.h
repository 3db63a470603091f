#pragma once

namespace facebook::react {

/** This package has no components, so that nothing of React Native's class is used. */
class ComponentDescriptorProviderRegistry;

} // namespace facebook::react
