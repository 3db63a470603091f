import type { Classification, ClassifierModel } from 'react-native-vision';

/** What the view of a camera tells the screen. */
export interface LiveProps {
  readonly model: ClassifierModel;
  readonly onClasses: (classes: readonly Classification[]) => void;
  readonly onProblem: (reason: string) => void;
}
