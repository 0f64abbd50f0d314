/** Writes entries to the files of a log whose server is unreachable, reports their number and waits to be killed. */

import type { Store } from '../../src/control/database/store.ts';
import { ClickHouseLog } from '../../src/control/requests/clickhouse/clickhouse-log.ts';
import { createRequestWriter, requestEntry } from './request-writer-fixture.ts';

const [folder = '', count = '0'] = process.argv.slice(2);
const logStore = new ClickHouseLog('http://127.0.0.1:1/solway', folder);
const { log, writer } = createRequestWriter({} as Store, {}, logStore);
log.push(...Array.from({ length: Number(count) }, (_, nth) => requestEntry({ micros: nth })));
await writer.flush();
process.stdout.write('written\n');
setInterval(() => undefined, 1_000);
