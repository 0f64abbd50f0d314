/**
 * An error that the operator can correct. The message says how and holds no secret, so it is shown unchanged; the log
 * also has the text of its cause.
 */
export class OperatorError extends Error {}
