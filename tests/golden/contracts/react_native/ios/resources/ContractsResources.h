// Empty: a target of SwiftPM needs a file of each kind, one that has resources alone, too.
