/**
 * What an S3 location names: `s3:`, `s3a:` and `s3n:` are one store. The bucket ends at the first slash; all that comes
 * after it is the key, byte for byte, with its percent signs, `#`, `?`, spaces and double slashes (B178, B179).
 */
import { InvalidArgumentError, UnsupportedFeatureError } from '../../errors.ts'

export interface S3Location {
  readonly bucket: string
  /** Not encoded, not decoded; empty for the bucket itself. May begin with a slash. */
  readonly key: string
}

/**
 * @throws InvalidArgumentError if it is no S3 location or names no bucket; UnsupportedFeatureError for the ARN of an
 *   access point in the place of a bucket.
 */
export function parseS3Location(location: string): S3Location {
  const parts = /^s3[an]?:\/\/([^/]*)(?:\/(.*))?$/is.exec(location)
  if (parts === null)
    throw new InvalidArgumentError(`Cannot open ${location}: not an S3 location, such as s3://bucket/key`, {
      location,
    })
  const [, bucket, key = ''] = parts as unknown as [string, string, string | undefined]
  if (bucket.startsWith('arn:'))
    throw new UnsupportedFeatureError(`Cannot open ${location}: access points are not supported`, {
      location,
    })
  if (bucket.includes('@'))
    // Hadoop's old way to give keys. The message must not repeat them.
    throw new InvalidArgumentError(
      `Cannot open s3://***@${bucket.slice(bucket.lastIndexOf('@') + 1)}/${key}: keys do not belong into a location`,
    )
  if (!/^[A-Za-z0-9][\w.-]{1,254}$/.test(bucket))
    throw new InvalidArgumentError(
      `Cannot open ${location}: ${bucket === '' ? 'it names no bucket' : `no bucket can have the name ${bucket}`}`,
      { location },
    )
  return { bucket, key }
}
