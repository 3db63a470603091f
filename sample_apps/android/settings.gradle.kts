pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}

dependencyResolutionManagement {
    repositoriesMode = RepositoriesMode.FAIL_ON_PROJECT_REPOS
    repositories {
        google()
        mavenCentral()
        // What `mobpack build` made: a Maven repository like any other.
        maven {
            url = uri("../vision/dist/maven")
            content { includeGroup("com.example") }
        }
    }
}

rootProject.name = "picture"
include(":app")
