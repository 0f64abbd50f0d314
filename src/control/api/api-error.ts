/** Why the control API refuses; the text says what to do about it and reaches the caller as it is. */
export class ApiError extends Error {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 429 | 503;
  /** A word for programs, such as `NOT_FOUND`. */
  readonly code: string;
  /** What is wrong with which field, for answers with 422. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(
    status: ApiError['status'],
    code: string,
    message: string,
    more: Readonly<{ fields?: Readonly<Record<string, string>>; retryAfter?: number }> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.fields = more.fields;
    this.retryAfter = more.retryAfter;
  }
}
