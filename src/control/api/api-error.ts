import { OperatorError } from '../../base/operator-error.ts';

/** An error response from the control API. The message is sent to the caller and says what to do. */
export class ApiError extends OperatorError {
  readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 422 | 429 | 503;
  /** Machine-readable, e.g. `NOT_FOUND`. */
  readonly code: string;
  /** Error texts by field name. */
  readonly fields: Readonly<Record<string, string>> | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor(status: ApiError['status'], code: string, message: string, more: More = {}) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.fields = more.fields;
    this.retryAfter = more.retryAfter;
  }
}

type More = Readonly<{ fields?: Readonly<Record<string, string>>; retryAfter?: number }>;

export const unauthorized = (code: string, message: string): ApiError => new ApiError(401, code, message);

export const notFound = (message: string): ApiError => new ApiError(404, 'NOT_FOUND', message);

export const forbidden = (code: string, message: string, more?: More): ApiError =>
  new ApiError(403, code, message, more);

export const conflict = (code: string, message: string, more?: More): ApiError =>
  new ApiError(409, code, message, more);

export const limitReached = (message: string): ApiError => conflict('LIMIT', message);

export const invalidFields = (message: string, fields: Readonly<Record<string, string>>): ApiError =>
  new ApiError(422, 'INVALID_FIELDS', message, { fields });

/** Error for one invalid field of a request. */
export const invalidField = (field: string, problem: string): ApiError =>
  invalidFields(`${field}: ${problem}`, { [field]: problem });

/** Error for a network that the configuration does not list. */
export const unknownNetwork = (field: string, known: readonly string[]): ApiError =>
  invalidField(field, `must be one of ${known.join(', ')}`);
