import { type TurboModule } from 'react-native';
export type Place = {
    path: string;
    offset: number;
};
export type Device = {
    chip: string;
    apiLevel: number;
    folder: string;
};
/** `AndroidFiles` in runtime/native.ts says what each of these does. */
export interface Spec extends TurboModule {
    device(): Device;
    isHot(): boolean;
    locate(asset: string, size: number): Promise<Place>;
}
/** Null on iOS, and in an app that was built without it. */
declare const files: Spec | null;
export default files;
