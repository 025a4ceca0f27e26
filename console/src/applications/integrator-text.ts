interface Words {
  url: string
  appId: string
  secret: string
}

/**
 * The first three commands of an integrator, ready to paste into a shell: get a token, read one's own application, and
 * create a first device.
 */
export function firstCommands({ url, appId, secret }: Words): string {
  const device = {
    appId,
    deviceNo: `GATE-${appId}`,
    deviceName: 'East gate barrier',
    provinceCode: '360000',
    cityCode: '360100',
    districtCode: '360102',
    coordinates: '115.899918,28.676493',
  }
  return `TOKEN=$(curl -s '${url}/api/auth/v1/oauth/token' \\
  -d grant_type=client_credentials -d client_id='${appId}' -d client_secret='${secret}' \\
  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s -w '\\n' '${url}/api/platform/v1/application/detail' -H "Authorization: Bearer $TOKEN"

curl -s -w '\\n' '${url}/api/device/entrance/guard/create' \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(device)}'
`
}
