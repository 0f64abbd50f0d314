/** Writes usage to a database and to the journal of an unreachable ClickHouse, reports it and waits to be killed. */

import { randomUUID } from 'node:crypto';
import { openDatabase } from '../../../src/control/database/open.ts';
import { openClickHouseUsage, record, usualCall } from './clickhouse-usage-fixture.ts';
import { EDGE } from './usage-fixture.ts';

const [folder = '', file = '', count = '0'] = process.argv.slice(2);
const run = openClickHouseUsage(await openDatabase({ file }), 'http://127.0.0.1:1/solway').run(
  randomUUID(),
  folder,
);
for (let done = 0; done < Number(count); done++) {
  record(run, usualCall, EDGE);
  if (done % 10 === 9) await run.flush();
}
process.stdout.write('written\n');
setInterval(() => undefined, 1_000);
