import type { Schema } from './schema.ts';

/** Source: protobuf, timestamp.proto. */
export const timestampSchema: Schema = {
  name: 'google/protobuf/timestamp.proto',
  package: 'google.protobuf',
  messages: { Timestamp: ['int64 seconds = 1', 'int32 nanos = 2'] },
};

/** Source: grpc/grpc-proto, grpc/health/v1/health.proto. */
export const healthSchema: Schema = {
  name: 'grpc/health/v1/health.proto',
  package: 'grpc.health.v1',
  enums: {
    'HealthCheckResponse.ServingStatus': { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2, SERVICE_UNKNOWN: 3 },
  },
  messages: {
    HealthCheckRequest: ['string service = 1'],
    HealthCheckResponse: ['HealthCheckResponse.ServingStatus status = 1'],
  },
  services: {
    Health: {
      Check: '(HealthCheckRequest) returns (HealthCheckResponse)',
      Watch: '(HealthCheckRequest) returns (stream HealthCheckResponse)',
    },
  },
};

/** Both versions say the same. Source: grpc/grpc-proto, grpc/reflection/v1/reflection.proto. */
export const reflectionSchema = (version: 'v1' | 'v1alpha'): Schema => ({
  name: `grpc/reflection/${version}/reflection.proto`,
  package: `grpc.reflection.${version}`,
  messages: {
    ServerReflectionRequest: [
      'string host = 1',
      {
        oneof: 'message_request',
        fields: [
          'string file_by_filename = 3',
          'string file_containing_symbol = 4',
          'ExtensionRequest file_containing_extension = 5',
          'string all_extension_numbers_of_type = 6',
          'string list_services = 7',
        ],
      },
    ],
    ExtensionRequest: ['string containing_type = 1', 'int32 extension_number = 2'],
    ServerReflectionResponse: [
      'string valid_host = 1',
      'ServerReflectionRequest original_request = 2',
      {
        oneof: 'message_response',
        fields: [
          'FileDescriptorResponse file_descriptor_response = 4',
          'ExtensionNumberResponse all_extension_numbers_response = 5',
          'ListServiceResponse list_services_response = 6',
          'ErrorResponse error_response = 7',
        ],
      },
    ],
    FileDescriptorResponse: ['repeated bytes file_descriptor_proto = 1'],
    ExtensionNumberResponse: ['string base_type_name = 1', 'repeated int32 extension_number = 2'],
    ListServiceResponse: ['repeated ServiceResponse service = 1'],
    ServiceResponse: ['string name = 1'],
    ErrorResponse: ['int32 error_code = 1', 'string error_message = 2'],
  },
  services: {
    ServerReflection: {
      ServerReflectionInfo: '(stream ServerReflectionRequest) returns (stream ServerReflectionResponse)',
    },
  },
});
