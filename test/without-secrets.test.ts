import { assert } from 'chai'
import { withoutSecrets, withoutUser } from '../src/without-secrets.ts'

describe('locations in messages', () => {
  const rows: [location: string, shown: string, why: string][] = [
    ['s3://b/k', 's3://b/k', 'nothing to hide'],
    ['/a/b@c?sig=x', '/a/b@c?sig=x', 'a path'],
    ['http://h/f?x=1&y', 'http://h/f?x=1&y', 'a query that is no signature'],
    [
      'https://h/f?X-Amz-Date=d&X-Amz-Signature=hush&X-Amz-Security-Token=hush&X-Amz-Credential=hush',
      'https://h/f?X-Amz-Date=d&X-Amz-Signature=***&X-Amz-Security-Token=***&X-Amz-Credential=***',
      'signed for S3',
    ],
    ['https://h/f?X-Goog-Signature=hush', 'https://h/f?X-Goog-Signature=***', 'signed for Google'],
    ['https://h/f?sv=1&sig=hush%2B', 'https://h/f?sv=1&sig=***', 'signed for Azure'],
    ['https://h/f?Signature=hush', 'https://h/f?Signature=***', 'signed in the old way'],
    ['https://h/f?access_token=hush&token=hush', 'https://h/f?access_token=***&token=***', 'a token'],
    ['https://h/f?X%2DAmz%2DSignature=hush', 'https://h/f?X%2DAmz%2DSignature=***', 'an encoded name'],
    ['https://h/f#?SIG=hush', 'https://h/f#?SIG=***', 'no fragment: a hash is a part of a key'],
    ['https://h/f?%=1&sig=hush', 'https://h/f?%=1&sig=***', 'a name that does not decode'],
    ['https://me:hush@h/f', 'https://***@h/f', 'a user and password'],
    ['https://hush@h/f', 'https://***@h/f', 'a token in the place of a user'],
    ['https://me:hu@sh@h:99999/f', 'https://***@h:99999/f', 'an @ in the password'],
    ['https://h/a@b', 'https://h/a@b', 'an @ in the path'],
    ['abfss://fs@account/f', 'abfss://fs@account/f', 'a container'],
    ['ftp://me:hush@h/f', 'ftp://***@h/f', 'a user of another scheme'],
  ]
  for (const [location, shown, why] of rows)
    it(`${shown}: ${why}`, () => {
      assert.equal(withoutSecrets(location), shown)
    })

  const texts: [text: string, shown: string][] = [
    ['me:hush@h', '***@h'],
    ['https://me:hu/sh@h:99999/x', 'https://***@h:99999/x'],
    ['localhost:9000', 'localhost:9000'],
  ]
  for (const [text, shown] of texts)
    it(`what is no URL: ${shown}`, () => {
      assert.equal(withoutUser(text), shown)
    })
})
