from packager.cli import garbage, main

garbage.postpone()
main()
