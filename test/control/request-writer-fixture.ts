import type { Store } from '../../src/control/database/open.ts';
import { RequestWriter, type RequestWriterOptions } from '../../src/control/requests/request-writer.ts';
import type { RequestEntry } from '../../src/gateway/telemetry/request-log.ts';
import type { Submission } from '../../src/gateway/telemetry/submission-log.ts';

export function createRequestWriter(store: Store, options: Partial<RequestWriterOptions> = {}) {
  const log: RequestEntry[] = [];
  const sent: Submission[] = [];
  const sources = {
    requests: { drain: () => log.splice(0) },
    submissions: { drain: () => sent.splice(0) },
  };
  return { log, sent, writer: new RequestWriter(store, sources, 'gateway-1', options) };
}
