import { expect, test } from 'bun:test'
import { isShifted } from './shifted-area.ts'

type Places = Record<string, [longitude: number, latitude: number]>

const inside: Places = {
  ...{ Beijing: [116.397, 39.909], Shanghai: [121.474, 31.23], Ürümqi: [87.617, 43.793], Lhasa: [91.114, 29.645] },
  ...{ 'Hong Kong': [114.169, 22.319], Macao: [113.544, 22.199], Sanya: [109.508, 18.248], Sansha: [112.338, 16.831] },
  // Near neighbours.
  ...{ Heihe: [127.528, 50.245], Suifenhe: [131.152, 44.412], Hunchun: [130.366, 42.863], Mohe: [122.539, 52.972] },
  ...{ Dandong: [124.354, 40.001], "Ji'an": [126.194, 41.125], Changbai: [128.2, 41.42], Tumen: [129.846, 42.966] },
  ...{ Fuyuan: [134.308, 48.365], Tongjiang: [132.51, 47.642], Hulin: [132.937, 45.763], Manzhouli: [117.379, 49.598] },
  ...{ Erenhot: [111.977, 43.653], Arxan: [119.944, 47.177], Qinghe: [90.376, 46.674], Altay: [88.14, 47.845] },
  ...{ Tacheng: [82.981, 46.746], Alashankou: [82.567, 45.172], Khorgos: [80.42, 44.215], Kashgar: [75.99, 39.47] },
  ...{ Taxkorgan: [75.23, 37.772], Zanda: [79.803, 31.48], Purang: [81.177, 30.294], Gyirong: [85.297, 28.395] },
  ...{ Yadong: [88.907, 27.485], Cona: [91.957, 27.991], Ruili: [97.855, 24.013], Tengchong: [98.491, 25.021] },
  ...{ Cangyuan: [99.246, 23.146], Menglian: [99.593, 22.33], Jinghong: [100.797, 22.01], Mengla: [101.565, 21.481] },
  ...{ Hekou: [103.939, 22.529], Malipo: [104.702, 23.128], Jingxi: [106.417, 23.134], Pingxiang: [106.766, 22.094] },
  ...{ Dongxing: [107.972, 21.548], Xiamen: [118.089, 24.479], Fuzhou: [119.296, 26.075], Pingtan: [119.79, 25.504] },
}

const outside: Places = {
  ...{
    Seoul: [126.978, 37.567],
    Pyongyang: [125.763, 39.039],
    Hamhung: [127.536, 39.918],
    Chongjin: [129.776, 41.795],
  },
  ...{ Kanggye: [126.585, 40.968], Fukuoka: [130.402, 33.59], Tokyo: [139.692, 35.69], Ishigaki: [124.156, 24.341] },
  ...{ Taipei: [121.565, 25.033], Kaohsiung: [120.301, 22.627], Manila: [120.984, 14.6] },
  ...{
    Hanoi: [105.834, 21.028],
    'Hai Phong': [106.688, 20.845],
    'Lang Son': [106.761, 21.853],
    'Ha Giang': [104.984, 22.823],
  },
  ...{ 'Cao Bang': [106.258, 22.666], 'Ha Long': [107.08, 20.951], 'Luang Namtha': [101.405, 20.949] },
  ...{ Kengtung: [99.607, 21.291], Lashio: [97.752, 22.933], Myitkyina: [97.396, 25.383], Mandalay: [96.084, 21.975] },
  ...{ Thimphu: [89.639, 27.473], Gangtok: [88.612, 27.331], Kathmandu: [85.324, 27.717], Pokhara: [83.985, 28.21] },
  ...{ Delhi: [77.209, 28.614], Chandigarh: [76.779, 30.733], Srinagar: [74.797, 34.084], Lahore: [74.359, 31.52] },
  ...{ Dushanbe: [68.787, 38.56], Murghab: [73.966, 38.169], Bishkek: [74.59, 42.875], Karakol: [78.394, 42.491] },
  ...{ Almaty: [76.89, 43.239], Zharkent: [80.008, 44.167], Ayagoz: [80.44, 47.965], Zaysan: [84.873, 47.466] },
  ...{
    Ulaanbaatar: [106.906, 47.886],
    Khovd: [91.642, 48.006],
    Ölgii: [89.968, 48.969],
    Choibalsan: [114.535, 48.072],
  },
  ...{ Sainshand: [110.136, 44.888], Chita: [113.501, 52.034], Blagoveshchensk: [127.54, 50.29] },
  ...{ Birobidzhan: [132.924, 48.795], Vladivostok: [131.885, 43.116], Ussuriysk: [131.946, 43.797] },
  ...{ Khabarovsk: [135.119, 48.48], London: [-0.128, 51.507], Sydney: [151.209, -33.869] },
}

const namesOf = (places: Places, isWanted: boolean) =>
  Object.entries(places).flatMap(([name, at]) => (isShifted(...at) === isWanted ? [name] : []))

test('the mainland, Hong Kong and Macao are shifted, also beside a border; neighbours are not', () => {
  expect(namesOf(inside, false)).toEqual([])
  expect(namesOf(outside, true)).toEqual([])
})
