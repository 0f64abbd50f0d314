import { once } from 'node:events';
import { createReadStream, createWriteStream, renameSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { syncFolder } from '../../../base/files.ts';
import { linesOf } from '../../../base/text/lines-of.ts';
import type { Store } from '../store.ts';
import { BackupError, type BackupPart, backupTables, type TableCount, takeBackup } from './backup.ts';

/** A backup file consists of gzipped JSON lines. The first line identifies the format. */
const FORMAT = 'solway-backup';
const FORMAT_VERSION = 1;

const headLine = z.strictObject({
  format: z.literal(FORMAT),
  version: z.literal(FORMAT_VERSION),
  schema: z.number().int(),
  at: z.number().int(),
});
const value = z.union([z.string(), z.number().int(), z.null()]);
const rowsLine = z.strictObject({
  rows: z.string(),
  columns: z.array(z.string()),
  values: z.array(z.array(value)),
});
const tableLine = z.strictObject({ table: z.string(), count: z.number().int(), digest: z.string() });
const endLine = z.strictObject({ end: z.literal(true) });

function lineOf(part: BackupPart): string {
  if (part.kind === 'begin')
    return JSON.stringify({ format: FORMAT, version: FORMAT_VERSION, schema: part.schema, at: Date.now() });
  if (part.kind === 'end') return JSON.stringify({ end: true });
  if (part.kind === 'table') {
    const { table, rows, digest } = part.count;
    return JSON.stringify({ table, count: rows, digest });
  }
  const columns = Object.keys(part.rows[0] ?? {});
  const values = part.rows.map((row) => columns.map((name) => row[name] ?? null));
  return JSON.stringify({ rows: part.table, columns, values });
}

/**
 * Writes a backup file that only its owner can read. The file stays empty until the backup is complete and durable.
 * @throws BackupError if the file exists
 */
export async function writeBackupFile(
  store: Store,
  file: string,
  onTable: (count: TableCount) => void = () => undefined,
): Promise<TableCount[]> {
  const unfinished = `${file}.${process.pid}.unfinished`;
  const placeholder = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new BackupError(`${file} already exists. Choose another name.`);
    if (error.code === 'ENOENT')
      throw new BackupError(`The folder of ${file} does not exist. Create it first.`);
    throw error;
  });
  await placeholder.close();
  const counts: TableCount[] = [];
  try {
    const packed = createGzip();
    const sink = packed.pipe(createWriteStream(unfinished, { mode: 0o600, flush: true }));
    const written = finished(sink);
    // `written` is awaited below; this avoids an unhandled rejection until then.
    written.catch(() => undefined);
    for await (const part of takeBackup(store)) {
      if (!packed.write(`${lineOf(part)}\n`)) await Promise.race([once(packed, 'drain'), written]);
      if (part.kind !== 'table') continue;
      counts.push(part.count);
      onTable(part.count);
    }
    packed.end();
    await written;
    renameSync(unfinished, file);
    await syncFolder(dirname(file));
    return counts;
  } catch (error) {
    rmSync(unfinished, { force: true });
    rmSync(file, { force: true });
    throw error;
  }
}

const tableNames = new Set(backupTables.map(({ name }) => name));

function partOf(line: string, number: number): BackupPart {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    throw new BackupError(`line ${number} of the backup is corrupt`);
  }
  if (number === 1) {
    const head = headLine.safeParse(parsed);
    if (head.success) return { kind: 'begin', schema: head.data.schema };
    throw new BackupError('the file is not a Solway backup, or was written by a newer version');
  }
  const rows = rowsLine.safeParse(parsed);
  if (rows.success && tableNames.has(rows.data.rows)) {
    const { columns, values } = rows.data;
    return {
      kind: 'rows',
      table: rows.data.rows,
      rows: values.map((row) => Object.fromEntries(columns.map((name, at) => [name, row[at] ?? null]))),
    };
  }
  const table = tableLine.safeParse(parsed);
  if (table.success) {
    const { count, digest } = table.data;
    return { kind: 'table', count: { table: table.data.table, rows: count, digest } };
  }
  if (endLine.safeParse(parsed).success) return { kind: 'end' };
  throw new BackupError(`line ${number} of the backup is corrupt`);
}

export async function* readBackupFile(file: string): AsyncGenerator<BackupPart> {
  const packed = createReadStream(file);
  const unpacked = createGunzip();
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  let number = 0;
  try {
    for await (const line of linesOf(unpacked.setEncoding('utf8'))) yield partOf(line, ++number);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new BackupError(`There is no file ${file}. Give the path of a backup.`);
    if (code?.startsWith('Z_') === true || code === 'ERR_STREAM_PREMATURE_CLOSE')
      throw new BackupError('the backup is corrupt, or not a Solway backup');
    throw error;
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}
