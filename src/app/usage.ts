import { randomUUID } from 'node:crypto';
import { basename, join } from 'node:path';
import type { Logger } from '../base/log.ts';
import type { Configuration } from '../config/configuration.ts';
import type { Store } from '../control/database/store.ts';
import { databaseUpkeep } from '../control/usage/database-upkeep.ts';
import type { RecoveredJournal } from '../control/usage/usage-journal.ts';
import { UsageRoller } from '../control/usage/usage-roller.ts';
import { databaseSink, type UsageSink } from '../control/usage/usage-rows.ts';
import { UsageSplit } from '../control/usage/usage-split.ts';
import { UsageWriter } from '../control/usage/usage-writer.ts';
import { UsageMeter } from '../gateway/metering/usage-meter.ts';
import { type ClickHouseParts, openClickHouse } from './clickhouse.ts';
import { logStateChange } from './log-state-change.ts';
import { stopEach } from './process/stop-each.ts';

function logRecoveredJournal(log: Logger, { path, rows, corruptLines, lateRows }: RecoveredJournal): void {
  const journal = basename(path);
  log.info({ journal, rows }, 'Usage of an earlier run recovered');
  if (corruptLines > 0) log.warn({ journal, corruptLines }, 'Usage journal is corrupt');
  if (lateRows > 0) log.warn({ journal, lateRows }, 'Usage dropped: its minutes are past the retention');
}

type Destination = Readonly<{
  sink: UsageSink;
  source: Pick<UsageMeter, 'drain'>;
  /** In the data folder. */
  journal: string;
  /** In log messages. */
  name: string;
}>;

const openWriter = (
  { sink, source, journal, name }: Destination,
  runId: string,
  { keys, dataDir }: Configuration,
  log: Logger,
): UsageWriter =>
  new UsageWriter({
    ...{ sink, source, runId },
    flushIntervalMs: keys.usageFlushIntervalMs,
    pendingRowsMax: keys.usageRowsMax,
    journalFolder: join(dataDir, journal),
    journalMaxBytes: keys.usageJournalMaxBytes,
    onStoreState: logStateChange(
      log,
      `Failed to write usage to ${name}; it is queued`,
      `Writing usage to ${name} recovered`,
    ),
    onJournalState: logStateChange(
      log,
      `Failed to write the journal of usage for ${name}; queued usage would be lost with the process`,
      `Writing the journal of usage for ${name} recovered`,
    ),
    onRecoveryState: logStateChange(
      log,
      `Failed to store usage of an earlier run in ${name}; retrying`,
      `Usage of earlier runs is in ${name}`,
    ),
    onJournalRecovered: (recovered) => logRecoveredJournal(log, recovered),
  });

/** With ClickHouse, the database gets totals only. */
function openWriters(
  store: Store,
  meter: UsageMeter,
  clickHouse: ClickHouseParts | null,
  configuration: Configuration,
  log: Logger,
) {
  const runId = randomUUID();
  const split = clickHouse === null ? null : new UsageSplit(meter);
  const open = (destination: Destination) => openWriter(destination, runId, configuration, log);
  const totals = open({
    ...{ sink: databaseSink(store), source: split?.totals ?? meter },
    ...{ journal: 'usage-journal', name: 'the database' },
  });
  if (clickHouse === null || split === null)
    return { runId, totals, writers: [totals], isClickHouseIncomplete: () => false };
  const details = open({
    ...{ sink: clickHouse.sink, source: split.details, journal: 'usage-detail-journal', name: 'ClickHouse' },
  });
  return {
    ...{ runId, totals, writers: [totals, details] },
    isClickHouseIncomplete: () => details.isIncomplete || clickHouse.isIncomplete(),
  };
}

export function openUsage(store: Store, configuration: Configuration, log: Logger) {
  const { keys } = configuration;
  const meter = new UsageMeter({ rowsMax: keys.usageRowsMax });
  const clickHouse = openClickHouse(store, configuration.store.clickhouseUrl, log);
  const opened = openWriters(store, meter, clickHouse, configuration, log);
  const { runId, totals, writers, isClickHouseIncomplete } = opened;
  const retention = {
    minutesDays: keys.usageMinutesDays,
    hoursDays: keys.usageHoursDays,
    daysDays: keys.usageRetentionDays,
  };
  const roller = new UsageRoller({
    store,
    upkeep: databaseUpkeep(store, retention, (check) => log.error(check, 'Usage consistency check failed')),
    onState: logStateChange(log, 'Usage rollup failed; minutes are retained', 'Usage rollup resumed'),
  });
  // Started together, so that both drain usage at almost the same time.
  for (const writer of writers) writer.start();
  roller.start();
  const sumOf = (loss: keyof UsageWriter['losses']): number =>
    writers.reduce((sum, { losses }) => sum + losses[loss], 0);
  const losses = [
    { message: 'Calls not counted: too many usage rows wait for the database', read: () => meter.uncounted },
    {
      message: 'Usage dropped: the database or ClickHouse was unavailable for too long',
      read: () => sumOf('lostRows'),
    },
    { message: 'Usage dropped: its minutes are past the retention', read: () => sumOf('lateRows') },
    {
      message: 'Usage is in memory only: raise keys.usage_journal_max_bytes',
      read: () => sumOf('journalOverflowRows'),
    },
  ];
  return {
    meter,
    /** Identifies this run in usage rows. */
    runId,
    setGateway: (id: string) => totals.setGateway(id),
    losses,
    /** Entries of usage lost since startup. */
    lost: () => meter.uncounted + sumOf('lostRows') + sumOf('lateRows'),
    waiting: () => writers.reduce((sum, { pendingRows }) => sum + pendingRows, 0),
    clickHouse,
    isClickHouseIncomplete,
    stop: () =>
      stopEach([
        () => roller.stop(),
        async () => clickHouse?.stopWork(),
        ...writers.map((writer) => () => writer.stop()),
        async () => clickHouse?.close(),
      ]),
  };
}
