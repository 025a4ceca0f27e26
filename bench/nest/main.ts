// The same operation with the tools that most teams use, as the tools' guides show it: NestJS, class-validator and
// TypeORM on pg. It keeps the promises of the baseline: one transaction a request, the application's row locked, one
// owner a serial, one event, and the answer after the commit.
import 'reflect-metadata'
import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import {
  Body,
  type CanActivate,
  ConflictException,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  HttpCode,
  Injectable,
  Module,
  Post,
  Req,
  UnauthorizedException,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm'
import { IsNotEmpty, IsOptional, IsString, Matches, MaxLength } from 'class-validator'
import { Column, DataSource, Entity, PrimaryColumn, PrimaryGeneratedColumn, QueryFailedError, type Repository } from 'typeorm'

const divisions: { code: string; name: string }[] = createRequire(import.meta.url)('lcn/data/data.json')
const names = new Map(divisions.map(({ code, name }) => [code, name]))

@Entity()
class Application {
  @PrimaryColumn('text', { name: 'app_id' }) appId: string
  @Column('smallint', { name: 'online_status', default: 1 }) onlineStatus: number
}

@Entity()
class AccessToken {
  @PrimaryColumn('text', { name: 'token_hash' }) tokenHash: string
  @Column('text', { name: 'app_id' }) appId: string
}

@Entity()
class Device {
  @PrimaryColumn('text', { name: 'device_no' }) deviceNo: string
  @Column('text', { name: 'app_id' }) appId: string
  @Column('text', { name: 'device_name' }) deviceName: string
  @Column('text', { nullable: true }) tag: string | null
  @Column('text', { name: 'province_code' }) provinceCode: string
  @Column('text', { name: 'city_code' }) cityCode: string
  @Column('text', { name: 'district_code' }) districtCode: string
  @Column('text', { name: 'detail_address', nullable: true }) detailAddress: string | null
  @Column('text') coordinates: string
  @Column('smallint', { default: 1 }) status: number
  @Column('smallint', { name: 'online_status', default: 2 }) onlineStatus: number
  @Column('smallint', { name: 'run_status', default: 0 }) runStatus: number
  @Column('timestamptz', { name: 'created_at' }) createdAt: Date
}

@Entity()
class Event {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: string
  @Column('text', { name: 'app_id' }) appId: string
  @Column('text') type: string
  @Column('timestamptz') time: Date
  @Column('text') actor: string
  @Column('text', { nullable: true }) subject: string | null
  @Column('jsonb') data: object
}

class DeviceRegistration {
  @IsString() @IsNotEmpty() @MaxLength(64) appId: string
  @Matches(/^\S{1,64}$/) deviceNo: string
  @IsString() @IsNotEmpty() @MaxLength(64) deviceName: string
  @IsOptional() @IsString() @MaxLength(512) tag?: string
  @IsOptional() @IsString() @MaxLength(12) provinceCode?: string
  @IsOptional() @IsString() @MaxLength(12) cityCode?: string
  @IsString() @IsNotEmpty() @MaxLength(12) districtCode: string
  @IsOptional() @IsString() @MaxLength(255) detailAddress?: string
  @Matches(/^-?\d{1,3}(\.\d+)?,-?\d{1,2}(\.\d+)?$/) @MaxLength(64) coordinates: string
}

interface TokenRequest {
  headers: Record<string, string | undefined>
  appId: string
}

@Injectable()
class TokenGuard implements CanActivate {
  constructor(@InjectRepository(AccessToken) private readonly tokens: Repository<AccessToken>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<TokenRequest>()
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const tokenHash = createHash('sha256').update(token).digest('base64')
    const found = await this.tokens.findOneBy({ tokenHash })
    if (found === null) throw new UnauthorizedException('The access token is not valid.')
    request.appId = found.appId
    return true
  }
}

@Injectable()
class DeviceService {
  private readonly format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: 'Asia/Shanghai',
    dateStyle: 'short',
    timeStyle: 'medium',
  })

  constructor(private readonly database: DataSource) {}

  async create(body: DeviceRegistration): Promise<object> {
    const now = new Date()
    const record = this.show(body, now)
    const { deviceBattery: place, appId, deviceNo, deviceName, tag } = record
    const { provinceCode, cityCode, districtCode, detailAddress, coordinates } = place
    try {
      await this.database.transaction(async (manager) => {
        const application = await manager.findOne(Application, { where: { appId }, lock: { mode: 'pessimistic_read' } })
        if (application?.onlineStatus !== 1) throw new ConflictException('The application is offline.')
        const address = { provinceCode, cityCode, districtCode, detailAddress, coordinates }
        await manager.insert(Device, { appId, deviceNo, deviceName, tag, ...address, createdAt: now })
        const actor = `application:${appId}`
        await manager.insert(Event, { appId, type: 'device.bound', time: now, actor, subject: deviceNo, data: record })
      })
    } catch (error) {
      if (error instanceof QueryFailedError && error.driverError.code === '23505') {
        throw new ConflictException('The serial is bound already.')
      }
      throw error
    }
    return record
  }

  private show(body: DeviceRegistration, now: Date) {
    const { appId, deviceNo, deviceName, tag = null, detailAddress = null, districtCode, coordinates } = body
    const { provinceCode = '360000', cityCode = '360100' } = body
    return {
      appId,
      deviceNo,
      tag,
      deviceName,
      modelName: null,
      productPictureUrl: null,
      deviceType: null,
      deviceTypeName: null,
      status: 1,
      onlineStatus: 2,
      statusRemark: null,
      runStatus: 0,
      version: null,
      deviceNumber: 1,
      deviceBattery: {
        cityCode,
        cityName: names.get(cityCode) ?? null,
        coordinates,
        detailAddress,
        districtCode,
        districtName: names.get(districtCode) ?? null,
        provinceCode,
        provinceName: names.get(provinceCode) ?? null,
      },
      DeviceBatteryOutput: { batteryStatus: null, batteryEnergy: null },
      createTime: this.format.format(now),
    }
  }
}

@Controller('/api/device/entrance/guard')
class DeviceController {
  constructor(private readonly devices: DeviceService) {}

  @Post('create')
  @HttpCode(200)
  @UseGuards(TokenGuard)
  async create(@Req() request: TokenRequest, @Body() body: DeviceRegistration) {
    if (body.appId !== request.appId) throw new ForbiddenException('The caller may not act for this application.')
    return { code: 0, msg: 'success', data: await this.devices.create(body) }
  }
}

const entities = [Application, AccessToken, Device, Event]

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      host: process.env.PGHOST,
      port: Number(process.env.PGPORT),
      username: process.env.PGUSER,
      password: process.env.PGPASSWORD,
      database: process.env.PGDATABASE,
      entities,
      synchronize: true,
      extra: { max: 20 },
    }),
    TypeOrmModule.forFeature(entities),
  ],
  controllers: [DeviceController],
  providers: [DeviceService, TokenGuard],
})
class Server {}

const app = await NestFactory.create(Server, { logger: ['error'] })
app.useGlobalPipes(new ValidationPipe({ whitelist: true }))
await app.listen(0, '127.0.0.1')
process.stdout.write(`ready at ${(await app.getUrl()).replace('[::1]', '127.0.0.1')}\n`)
