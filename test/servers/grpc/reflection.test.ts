import { join } from 'node:path';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  loadFileDescriptorSetFromBuffer,
  loadSync,
  type MethodDefinition,
  type PackageDefinition,
} from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtobufReader } from '../../../src/protocol/geyser/protobuf.ts';
import { ProtobufWriter } from '../../../src/protocol/geyser/protobuf-writer.ts';
import { TestGrpcServer, TOKEN } from './start-grpc-server.ts';

/** A @grpc/grpc-js client whose code is generated from the reflected files. */
const folder = join(import.meta.dirname, '../../../proto');
const options = { longs: String, includeDirs: [folder] };
const written = { ...loadSync('geyser.proto', options), ...loadSync('shredstream.proto', options) };
const asIs = (bytes: Buffer): Buffer => bytes;

type Generated = MethodDefinition<object, object>;
const methodOf = (code: PackageDefinition, service: string, name: string): Generated =>
  (code[service] as unknown as Record<string, Generated>)[name]!;
const geyser = (name: string): Generated => methodOf(written, 'geyser.Geyser', name);

let stage: TestGrpcServer;
let raw: Client;

beforeAll(async () => {
  stage = await new TestGrpcServer().listen();
  raw = new Client(`127.0.0.1:${stage.port}`, credentials.createInsecure());
});
afterAll(async () => {
  raw.close();
  await stage.stop();
});

/** The scripted handler returns the request as the response. */
const unary = (name: string, request: object): Promise<Buffer> => {
  const { path, requestSerialize } = geyser(name);
  return new Promise((resolve, reject) => {
    const metadata = new Metadata();
    metadata.set('x-token', TOKEN);
    raw.makeUnaryRequest(path, requestSerialize, asIs, request, metadata, (error, answer) => {
      if (error === null && answer !== undefined) resolve(answer);
      else reject(error);
    });
  });
};

const REFLECTION = 'grpc.reflection.v1.ServerReflection';

async function reflect<Answer>(
  question: object,
  write: (question: object) => Buffer,
  read: (bytes: Buffer) => Answer,
): Promise<Answer> {
  const stream = raw.makeBidiStreamRequest(
    `/${REFLECTION}/ServerReflectionInfo`,
    write,
    asIs,
    new Metadata(),
  );
  stream.write(question);
  stream.end();
  const answers: Buffer[] = [];
  for await (const answer of stream as AsyncIterable<Buffer>) answers.push(answer);
  expect(answers).toHaveLength(1);
  return read(answers[0]!);
}

/** Generates code from reflected files. */
function generate(files: readonly Uint8Array[]): PackageDefinition {
  const set = new ProtobufWriter();
  for (const file of files) set.bytes(1, file);
  return loadFileDescriptorSetFromBuffer(Buffer.from(set.finish()), options);
}

/** Generates the code of the reflection messages from their own reflection. */
async function reflectionCode(): Promise<Generated> {
  const own = (): Buffer => Buffer.from(new ProtobufWriter().string(4, REFLECTION).finish());
  const files = await reflect({}, own, (bytes) => {
    const found: Uint8Array[] = [];
    const answer = new ProtobufReader(bytes);
    while (answer.next()) {
      if (answer.field !== 4) {
        answer.skipField();
        continue;
      }
      const response = answer.message();
      while (response.next()) found.push(response.bytes());
    }
    return found;
  });
  return methodOf(generate(files), REFLECTION, 'ServerReflectionInfo');
}

describe('reflection', () => {
  /** Code from descriptors keeps the field names of the file. */
  type Answer = {
    list_services_response?: { service: { name: string }[] };
    file_descriptor_response?: { file_descriptor_proto: Buffer[] };
  };

  it('describes its services completely through reflection', async () => {
    const { requestSerialize, responseDeserialize } = await reflectionCode();
    const sendRequest = (question: object) =>
      reflect(question, requestSerialize, (bytes) => responseDeserialize(bytes) as Answer);
    const { list_services_response: list } = await sendRequest({ list_services: '' });
    const services = list!.service.map(({ name }) => name);
    expect(services).toEqual(expect.arrayContaining(['geyser.Geyser', 'shredstream.ShredstreamProxy']));
    for (const name of services) {
      const { file_descriptor_response: found } = await sendRequest({ file_containing_symbol: name });
      const calls = generate(found!.file_descriptor_proto)[name] as object;
      expect(Object.keys(calls).length).toBeGreaterThan(0);
      if (name in written) expect(Object.keys(calls)).toEqual(Object.keys(written[name] as object));
    }
    const { file_descriptor_response: found } = await sendRequest({ file_by_filename: 'geyser.proto' });
    const reflected = methodOf(generate(found!.file_descriptor_proto), 'geyser.Geyser', 'Ping');
    expect(reflected.responseDeserialize(await unary('Ping', { count: 12 }))).toEqual({ count: 12 });
  });
});
