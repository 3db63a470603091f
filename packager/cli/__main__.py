from packager.cli import main

main()
