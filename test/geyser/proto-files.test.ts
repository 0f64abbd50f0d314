import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFileDescriptorSetFromBuffer, loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import { handleReflection, reflectionPaths } from '../../src/protocol/grpc/reflection.ts';
import { encodeFileDescriptor } from '../../src/protocol/grpc/schema/file-descriptor.ts';
import { geyserSchema } from '../../src/protocol/grpc/schema/geyser.ts';
import type { Schema } from '../../src/protocol/grpc/schema/schema.ts';
import { shredstreamSchema } from '../../src/protocol/grpc/schema/shredstream.ts';
import { solanaStorageSchema } from '../../src/protocol/grpc/schema/solana-storage.ts';
import { protoText } from '../project/proto-text.ts';
import { envelope, updates } from './arbitrary.ts';

const folder = join(import.meta.dirname, '../../proto');
const options = { keepCase: true, longs: String, includeDirs: [folder] };

/** What generated code has of a message. */
type Shape = {
  name?: string;
  options?: unknown;
  field?: { options: unknown; typeName: string }[];
  nestedType?: Shape[];
};
type Message = { type: Shape };

/** A message without options, which the two ways of loading it fill with other defaults. */
const shapeOf = ({ name = '', field = [], nestedType = [], options: _, ...rest }: Shape): unknown => ({
  ...rest,
  name: entryOf(name),
  field: field.map(({ options: _each, typeName, ...each }) => ({ ...each, typeName: entryOf(typeName) })),
  nestedType: nestedType.map(shapeOf),
});

/** The loader of texts names a map's entries in a way of its own: `Transactions_status`. */
const entryOf = (name: string): string =>
  name
    .replaceAll('_', '')
    .replace(/(?<=.)Entry$/, '')
    .toLowerCase();

/** A request to reflection. */
const requestOf = (field: number, text: string): Uint8Array =>
  new ProtobufWriter().string(field, text).finish();

/** Fields by number, all of them bytes but those that are passed over. */
function fieldsOf(bytes: Uint8Array, others: readonly number[] = []): Map<number, Uint8Array[]> {
  const found = new Map<number, Uint8Array[]>();
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (others.includes(reader.field)) {
      reader.skipField();
      continue;
    }
    const content = reader.bytes();
    found.set(reader.field, [...(found.get(reader.field) ?? []), content]);
  }
  return found;
}

/** Files that reflection tells for a symbol, as a `FileDescriptorSet`. */
function reflected(symbol: string): Buffer {
  const [response] = fieldsOf(handleReflection(requestOf(4, symbol))).get(4) ?? [];
  const writer = new ProtobufWriter();
  for (const file of fieldsOf(response!).get(1) ?? []) writer.bytes(1, file);
  return Buffer.from(writer.finish());
}

describe.each([geyserSchema, solanaStorageSchema, shredstreamSchema])('proto/$name', (schema) => {
  it('matches the table', () => {
    expect(readFileSync(join(folder, schema.name), 'utf8')).toBe(protoText(schema));
  });

  it('matches the reflected descriptors', () => {
    const written = loadSync(schema.name, options);
    const parsedFields = loadFileDescriptorSetFromBuffer(
      reflected(`${schema.package}.${Object.keys(schema.messages)[0]}`),
      options,
    );
    const types = (definition: PackageDefinition): unknown =>
      Object.fromEntries(
        Object.entries(definition)
          .filter(([name]) => !name.startsWith('google.protobuf.') || name === 'google.protobuf.Timestamp')
          .map(([name, each]) => [
            name,
            'type' in each ? shapeOf((each as Message).type) : Object.keys(each),
          ]),
      );
    expect(types(parsedFields)).toEqual(types(written));
    expect(Object.keys(types(parsedFields) as object).length).toBeGreaterThanOrEqual(
      Object.keys(schema.messages).length,
    );
  });
});

describe('a reflected field', () => {
  type ReflectedField = { number: number; json: string; choice: number | null; isOptional: boolean };

  /** Fields of a message in a file of descriptors, and the names of its choices, real ones first. */
  function parsedFields(
    schema: Schema,
    message: string,
  ): { fields: Map<string, ReflectedField>; choices: string[] } {
    const file = fieldsOf(encodeFileDescriptor(schema), [10]);
    const found = (file.get(4) ?? []).map((each) => fieldsOf(each));
    const parts = found.find((each) => String(Buffer.from(each.get(1)![0]!)) === message)!;
    const fields = (parts.get(2) ?? []).map((bytes): [string, ReflectedField] => {
      const field: ReflectedField = { number: 0, json: '', choice: null, isOptional: false };
      let name = '';
      const reader = new ProtobufReader(bytes);
      while (reader.next()) {
        if (reader.field === 1) name = reader.string();
        else if (reader.field === 3) field.number = reader.uint32();
        else if (reader.field === 9) field.choice = reader.uint32();
        else if (reader.field === 10) field.json = reader.string();
        else if (reader.field === 17) field.isOptional = reader.bool();
        else reader.skipField();
      }
      return [name, field];
    });
    const choices = (parts.get(8) ?? []).map((each) => Buffer.from(fieldsOf(each).get(1)![0]!).toString());
    return { fields: new Map(fields), choices };
  }

  it('has the JSON name and proto3 presence that protoc writes', () => {
    const { fields, choices } = parsedFields(geyserSchema, 'SubscribeRequestFilterTransactions');
    expect(choices.slice(0, 3)).toEqual(['_vote', '_failed', '_signature']);
    expect(fields.get('vote')).toEqual({ number: 1, json: 'vote', choice: 0, isOptional: true });
    expect(fields.get('signature')).toEqual({ number: 5, json: 'signature', choice: 2, isOptional: true });
    const include = { number: 3, json: 'accountInclude', choice: null, isOptional: false };
    expect(fields.get('account_include')).toEqual(include);
    const one = parsedFields(geyserSchema, 'SubscribeUpdate');
    expect(one.choices).toEqual(['update_oneof']);
    const status = { number: 10, json: 'transactionStatus', choice: 0, isOptional: false };
    expect(one.fields.get('transaction_status')).toEqual(status);
    const meta = parsedFields(solanaStorageSchema, 'TransactionStatusMeta');
    expect(meta.fields.get('compute_units_consumed')).toEqual({
      ...{ number: 16, json: 'computeUnitsConsumed', choice: 0, isOptional: true },
    });
  });

  it.each([geyserSchema, solanaStorageSchema, shredstreamSchema])('is correct throughout $name', (schema) => {
    for (const [message, rows] of Object.entries(schema.messages)) {
      const { fields, choices } = parsedFields(schema, message);
      const inChoices = rows.flatMap((row) => (typeof row === 'string' ? [] : row.fields));
      const all = rows.flatMap((row) => (typeof row === 'string' ? [row] : row.fields));
      expect([...fields.keys()]).toEqual(all.map((row) => / (\w+) = \d+$/.exec(row)![1]));
      for (const row of all) {
        const name = / (\w+) = \d+$/.exec(row)![1]!;
        const { json, choice, isOptional } = fields.get(name)!;
        expect(json).toBe(name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
        expect([row, isOptional]).toEqual([row, row.startsWith('optional ')]);
        expect([row, choice !== null]).toEqual([row, isOptional || inChoices.includes(row)]);
        if (isOptional) expect(choices[choice!]).toBe(`_${name}`);
      }
    }
  });
});

describe('code generated from the files', () => {
  const { Subscribe } = loadSync('geyser.proto', { longs: String, includeDirs: [folder] })[
    'geyser.Geyser'
  ] as unknown as {
    Subscribe: { responseDeserialize(bytes: Buffer): object; responseSerialize(value: object): Buffer };
  };

  it.each(Object.keys(updates) as (keyof typeof updates)[])(
    'reads and writes like the published codec: %s',
    (kind) => {
      fc.assert(
        fc.property(updates[kind], envelope, (update, around) => {
          const wire = SubscribeUpdate.encode(SubscribeUpdate.fromPartial({ ...around, ...update })).finish();
          const read = Subscribe.responseDeserialize(Buffer.from(wire));
          expect(SubscribeUpdate.decode(Uint8Array.from(Subscribe.responseSerialize(read)))).toEqual(
            SubscribeUpdate.decode(wire),
          );
        }),
        { numRuns: 50, endOnFailure: true },
      );
    },
  );
});

describe('reflection', () => {
  const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

  it('lists the services and itself in both versions', () => {
    const [list] = fieldsOf(handleReflection(requestOf(7, ''))).get(6) ?? [];
    const services = (fieldsOf(list!).get(1) ?? []).map((each) => text(fieldsOf(each).get(1)?.[0]));
    expect(services).toEqual([
      'geyser.Geyser',
      'shredstream.ShredstreamProxy',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
    for (const path of reflectionPaths) expect(services).toContain(path.split('/')[1]);
  });

  it.each([
    [
      'a file',
      3,
      'geyser.proto',
      ['geyser.proto', 'google/protobuf/timestamp.proto', 'solana-storage.proto'],
    ],
    ['a service', 4, 'shredstream.ShredstreamProxy', ['shredstream.proto']],
    ['a call', 4, 'grpc.health.v1.Health.Check', ['grpc/health/v1/health.proto']],
    ['an enum', 4, 'solana.storage.ConfirmedBlock.RewardType', ['solana-storage.proto']],
    [
      'an enum in a message',
      4,
      'grpc.health.v1.HealthCheckResponse.ServingStatus',
      ['grpc/health/v1/health.proto'],
    ],
  ])('returns %s with all imports', (_name, field, wanted, files) => {
    const request = requestOf(field, wanted);
    const answer = fieldsOf(handleReflection(request));
    expect(text(answer.get(2)?.[0])).toBe(text(request));
    const [found] = answer.get(4) ?? [];
    const first = (file: Uint8Array): string => {
      const reader = new ProtobufReader(file);
      reader.next();
      return reader.string();
    };
    expect((fieldsOf(found!).get(1) ?? []).map(first)).toEqual(files);
  });

  it.each([
    ['a name that nothing has', 4, 'geyser.Nothing', 5, 'not found: geyser.Nothing'],
    ['extensions', 6, 'geyser.SubscribeRequest', 12, 'not supported'],
  ])('rejects %s in its response', (_name, field, wanted, code, words) => {
    const [error] = fieldsOf(handleReflection(requestOf(field, wanted))).get(7) ?? [];
    expect(text(error)).toBe(text(new ProtobufWriter().uint32(1, code).string(2, words).finish()));
  });
});
