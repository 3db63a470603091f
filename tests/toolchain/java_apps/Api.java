package apps;

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.jar.JarFile;
import kotlinx.validation.api.ClassBinarySignature;
import kotlinx.validation.api.KotlinSignaturesLoadingKt;

/** Prints the public API of a jar in the format of binary-compatibility-validator. */
public final class Api {
    private Api() {}

    public static void main(String[] arguments) throws IOException {
        try (JarFile jar = new JarFile(arguments[0])) {
            List<ClassBinarySignature> all = KotlinSignaturesLoadingKt.loadApiFromJvmClasses(jar, name -> true);
            List<String> none = Collections.emptyList();
            KotlinSignaturesLoadingKt.dump(KotlinSignaturesLoadingKt.filterOutNonPublic(all, none, none), System.out);
        }
    }
}
