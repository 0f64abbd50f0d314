import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Secrets that must never be logged. gateway/auth/api-key.ts defines the API key format. */
const API_KEY = /svc_(rpc_live|grpc_live|fs_live|admin_live|try)_[0-9A-Za-z]+/g;
const KEY_PARAMETER =
  /([?&](?:api-key|api_key|token|x-token|password|current_password|new_password)=)[^&\s"]+/gi;
const URL_CREDENTIALS = /(\b\w+:\/\/)[^/\s"@]+@/g;

/** Redacts API keys, credentials in URLs, and query parameters that hold keys, tokens or passwords. */
export function redact(text: string): string {
  return text
    .replace(API_KEY, 'svc_$1_[redacted]')
    .replace(KEY_PARAMETER, '$1[redacted]')
    .replace(URL_CREDENTIALS, '$1[redacted]@');
}

/** Creates a logger that writes JSON lines, each passed through `redact`. @param level - a pino level name. */
export function createLogger(level: string, write: (line: string) => void): Logger {
  const stream: DestinationStream = { write: (line) => write(redact(line)) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
}
