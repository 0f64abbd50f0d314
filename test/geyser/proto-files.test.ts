import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadFileDescriptorSetFromBuffer, loadSync, type PackageDefinition } from '@grpc/proto-loader';
import { describe, expect, it } from 'vitest';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../src/protocol/geyser/protobuf-writer.ts';
import { handleReflection, reflectionPaths } from '../../src/protocol/grpc/reflection.ts';

const folder = join(import.meta.dirname, '../../proto');
const options = { keepCase: true, longs: String, includeDirs: [folder] };

const requestOf = (field: number, text: string): Uint8Array =>
  new ProtobufWriter().string(field, text).finish();

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array[]> {
  const found = new Map<number, Uint8Array[]>();
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    const content = reader.bytes();
    found.set(reader.field, [...(found.get(reader.field) ?? []), content]);
  }
  return found;
}

const protoNames = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.proto'),
);

/** The fields of all messages, and all other names in the definitions. */
const namesIn = (definition: PackageDefinition): unknown =>
  Object.entries(definition)
    .filter(([name]) => !name.startsWith('google.protobuf.') || name === 'google.protobuf.Timestamp')
    .map(([name, each]) => {
      const { field = [] } = ('type' in each ? each.type : {}) as { field?: Record<string, unknown>[] };
      return [name, Object.keys(each), field.map((one) => [one.name, one.number, one.label, one.type])];
    })
    .sort();

it('proto/descriptors.binpb contains the types and services of the .proto files', () => {
  const compiled = readFileSync(join(folder, 'descriptors.binpb'));
  const written = namesIn(loadSync(protoNames, options));
  expect(namesIn(loadFileDescriptorSetFromBuffer(compiled, options))).toEqual(written);
});

describe('reflection', () => {
  it('lists the services, including both versions of itself', () => {
    const [list] = fieldsOf(handleReflection(requestOf(7, ''))).get(6) ?? [];
    const services = (fieldsOf(list!).get(1) ?? []).map((each) => text(fieldsOf(each).get(1)?.[0]));
    expect(services).toEqual([
      'geyser.Geyser',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
      'shredstream.ShredstreamProxy',
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
  ])('returns %s with all imports', (_name, field, requested, files) => {
    const request = requestOf(field, requested);
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
    ['an unknown name', 4, 'geyser.Nothing', 5, 'not found: geyser.Nothing'],
    ['extensions', 6, 'geyser.SubscribeRequest', 12, 'not supported'],
  ])('rejects %s in its response', (_name, field, requested, code, words) => {
    const [error] = fieldsOf(handleReflection(requestOf(field, requested))).get(7) ?? [];
    expect(text(error)).toBe(text(new ProtobufWriter().uint32(1, code).string(2, words).finish()));
  });
});
