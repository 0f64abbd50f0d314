/** An error that the operator can correct. The message says how and holds no secret, so it is shown unchanged. */
export class OperatorError extends Error {}
