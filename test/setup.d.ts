/** Builds what the tests run, so that a test never speaks of an older build. */
export declare function setup(): void;
