"""Kotlin of packages for Java's virtual machine and Android's, which targets share: a class for every model, over one
runtime."""
