// What a generated file says of its model.
/** What there is for a platform. The web has no files of its own: it opens those for the CPU of any Android device. */
export function platformFiles(model, platform) {
    if (platform !== 'web')
        return model.platforms[platform];
    const { files, ...setup } = model.platforms.android;
    return { ...setup, providers: [], files: files.filter(isForAnyCpu) };
}
function isForAnyCpu(file) {
    return file.providers.includes('cpu') && file.chips.length === 0;
}
