import { assert } from 'chai'
import { DEFAULT_CALL_POLICY } from '../../src/catalog/http-call.ts'
import type { Properties } from '../../src/catalog/rest-options.ts'
import { RestSession } from '../../src/catalog/rest-session.ts'

describe('who a user is to a REST catalog, for the identity of what is read', () => {
  const scopeOf = (properties: Properties, base = 'http://host/catalog'): string =>
    new RestSession(new URL(base), properties, DEFAULT_CALL_POLICY).scope

  const rows: [why: string, a: Properties, b: Properties, isSame: boolean][] = [
    ['the same properties', { token: 't0ken', warehouse: 'w' }, { warehouse: 'w', token: 't0ken' }, true],
    ['a secret that was changed', { credential: 'id:secret-1' }, { credential: 'id:secret-2' }, true],
    ['names of headers in capitals', { 'header.X-Key': 'k' }, { 'header.x-key': 'k' }, true],
    ['properties of the storage', { 's3.region': 'a' }, { 's3.region': 'b' }, true],
    ['another warehouse', { warehouse: 'a' }, { warehouse: 'b' }, false],
    ['another client', { credential: 'id1:secret' }, { credential: 'id2:secret' }, false],
    ['another token', { token: 't0ken-1' }, { token: 't0ken-2' }, false],
    ['another key in a header', { 'header.x-api-key': 'alice' }, { 'header.x-api-key': 'bob' }, false],
    ['another cookie', { 'header.Cookie': 'session=a' }, { 'header.Cookie': 'session=b' }, false],
    [
      'another tenant, same token',
      { token: 't', 'header.x-user': 'a' },
      { token: 't', 'header.x-user': 'b' },
      false,
    ],
    [
      'another role, same client',
      { credential: 'id:secret', scope: 'PRINCIPAL_ROLE:admin' },
      { credential: 'id:secret', scope: 'PRINCIPAL_ROLE:reader' },
      false,
    ],
    ['another prefix', { token: 't', prefix: 'a' }, { token: 't', prefix: 'b' }, false],
    ['another audience', { credential: 'i:s', audience: 'a' }, { credential: 'i:s', audience: 'b' }, false],
    ['another resource', { credential: 'i:s', resource: 'a' }, { credential: 'i:s', resource: 'b' }, false],
    [
      'another server of tokens, where the same client may be somebody else',
      { credential: 'i:s', 'oauth2-server-uri': 'https://a/t' },
      { credential: 'i:s', 'oauth2-server-uri': 'https://b/t' },
      false,
    ],
  ]
  for (const [why, a, b, isSame] of rows)
    it(`${why}: ${isSame ? 'shares' : 'does not share'} what is cached`, () => {
      assert.equal(scopeOf(a) === scopeOf(b), isSame)
    })

  it('another catalog does not share it', () => {
    assert.notEqual(scopeOf({ token: 't' }), scopeOf({ token: 't' }, 'http://other/catalog'))
  })

  it('shows no secret', () => {
    const secrets = { credential: 'id:s3cret-1', token: 's3cret-2', 'header.x-key': 's3cret-3' }
    assert.notInclude(scopeOf(secrets), 's3cret')
  })
})
