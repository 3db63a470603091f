package android.net;

public class ConnectivityManager {
    public native boolean isActiveNetworkMetered();
}
