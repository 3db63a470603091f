# Lays out the folders of a device for the processes of this namespace, and becomes its adbd.
# boot.sh FOLDER ROOT PORT ADBD
folder=$1 root=$2 port=$3 adbd=$4
top=$folder/top
mount -t tmpfs none "$top"
mkdir "$top/tmp" "$top/proc" "$top/dev" "$top/system" "$top/usr" "$top/etc" "$top/answers" "$top/classes"
mount -t proc proc "$top/proc"
cat /proc/sys/kernel/random/uuid > "$top/boot_id"
mount --bind "$top/boot_id" "$top/proc/sys/kernel/random/boot_id"
for name in bin lib lib64 sbin; do ln -s "usr/$name" "$top/$name"; done
for name in usr etc; do mount --bind -o ro "$root/$name" "$top/$name"; done
mount --rbind /dev "$top/dev"
# XNNPACK starts on arm64 only where the kernel tells of its processors.
mkdir -p "$top/sys/devices/system/cpu"
for name in possible present; do echo "0-$(($(nproc) - 1))" > "$top/sys/devices/system/cpu/$name"; done
mkdir -p "$top/data/local/tmp"
if [ -s "$folder/disk" ]; then
    mount -t tmpfs -o "size=$(cat "$folder/disk")" none "$top/data/local/tmp"
else
    mount --bind "$folder/data" "$top/data/local/tmp"
fi
for name in system answers classes; do mount --bind "$folder/$name" "$top/$name"; done
cp "$folder/java" "$top/java"
while read -r seen; do
    mkdir -p "$top$seen"
    mount --bind "$seen" "$top$seen"
done < "$folder/seen"
exec chroot "$top" env -i PATH=/system/bin:/usr/bin HOME=/ "ADBD_PORT=$port" "$adbd"
