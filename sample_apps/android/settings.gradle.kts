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
        // What `mobpack build` made: Maven repositories like any other.
        for (name in listOf("vision", "notes")) {
            maven {
                url = uri("../$name/dist/maven")
                content { includeModule("com.example", name) }
            }
        }
    }
}

rootProject.name = "picture"
include(":app")
