/** Runs a model. */
type Run<Inputs, Result> = (inputs: Inputs) => Result;
/** Runs a model in turn, each time with the state that the call before it left. */
export declare class Carried<State extends object, Outputs> {
    private readonly first;
    private readonly next;
    /** State that the last call left that has ended. */
    private state;
    /** States that the calls leave that are under way; null when there are none. */
    private pending;
    /** `first` makes the state of a first call, `next` that of a call after another. */
    constructor(first: () => State, next: (outputs: Outputs) => State);
    /** Runs a model after the calls that are under way. One that fails leaves the state as it was. */
    run<Given extends object>(run: Run<Given & State, Promise<Outputs>>, given: Given): Promise<Outputs>;
    /** @throws ModelError `unsupported` while a call is under way: this one would have to wait for it */
    runSync<Given extends object>(run: Run<Given & State, Outputs>, given: Given): Outputs;
    /** Resets the state: the next call is a first one. */
    reset(): void;
}
export {};
