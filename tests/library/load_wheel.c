// The library of a wheel for another processor: found, every kernel in it, and the logarithms of what comes in.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static double given[4096], found[4096];

int main(int count, char **arguments) {
    void *library = dlopen(arguments[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    for (int k = 2; k < count; k++) {
        if (!dlsym(library, arguments[k])) {
            fprintf(stderr, "%s is missing\n", arguments[k]);
            return 1;
        }
    }
    int64_t (*logarithms)(const double *, int64_t, double *) = dlsym(library, "steelyard_log_of_each");
    size_t read = fread(given, sizeof(double), 4096, stdin);
    logarithms(given, (int64_t)read, found);
    return fwrite(found, sizeof(double), read, stdout) != read;
}
