// uname(2) of a machine whose name the variable CHIP has.

extern "C" char* getenv(const char* name);

extern "C" int uname(char* names) {
    const int length = 65, count = 6, machine = 4;
    for (int place = 0; place < length * count; place++) names[place] = 0;
    const char* chip = getenv("CHIP");
    for (int place = 0; chip != nullptr && chip[place] != 0 && place < length - 1; place++) {
        names[machine * length + place] = chip[place];
    }
    return 0;
}
