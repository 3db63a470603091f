/** A copy of arrays, and of objects that hold them. */
export declare function copied<Given extends object>(given: Given): Given;
